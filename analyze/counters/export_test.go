package counters

const MaxAdviceText = maxAdviceText
