package mcpclient

// The parts that are tested alone.
var (
	ToldSchema  = toldSchema
	ToolName    = toolName
	ParseAnswer = parseAnswer
	Wild        = wild
)
