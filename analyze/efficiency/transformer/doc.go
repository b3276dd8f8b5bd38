// Package transformer counts the FLOPs of a language model from its configuration, the file
// config.json of Hugging Face. It is used for MFU if the user passes --model-flops config.json.
//
// [Parse] reads the dimensions of the matrices. The result counts the multiply-adds of matrix products
// and of causal attention per token, as publications of MFU do, and ignores other operations. A
// configuration whose layers are not known is an error, because a wrong count would be a wrong MFU.
package transformer
