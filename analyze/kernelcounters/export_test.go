package kernelcounters

const MaxAdviceText = maxAdviceText
