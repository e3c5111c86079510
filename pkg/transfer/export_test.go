package transfer

// MakeStage is tested with the package that finds what it makes.
var MakeStage = makeStage
