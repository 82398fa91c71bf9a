// Package gemini calls models over generateContent, the API of Google.
package gemini
