export const TAB = 9
export const LF = 10
export const CR = 13
export const SPACE = 32
export const QUOTE = 34
export const COLON = 58
export const SEMICOLON = 59
export const EQUALS = 61
export const BACKSLASH = 92

/** The parts of a head in which a byte is allowed (RFC 9110 5.6.2, 5.5): bits of `IN_TOKEN` and `IN_VALUE`. */
export const PLACES = new Uint8Array(256)
export const IN_TOKEN = 1
export const IN_VALUE = 2

for (let byte = 0; byte < 256; byte++) {
  if (/[!#$%&'*+\-.^_`|~0-9A-Za-z]/.test(String.fromCharCode(byte))) PLACES[byte]! |= IN_TOKEN
  if (byte === TAB || (byte >= SPACE && byte !== 127)) PLACES[byte]! |= IN_VALUE
}
