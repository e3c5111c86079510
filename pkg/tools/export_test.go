package tools

// HTMLText is for the fuzz target of pages.
var HTMLText = htmlText

// ToUTF8 is for the fuzz target of pages.
var ToUTF8 = toUTF8
