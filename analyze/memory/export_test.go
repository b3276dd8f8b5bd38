package memory

var PlusUsage = plusUsage
