package snapshot

var PlusUsage = plusUsage
