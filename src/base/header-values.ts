/** Characters that no value of a header holds (RFC 9110, section 5.5), each one byte. */
export const NOT_IN_HEADER_VALUES = /[^\t\x20-\x7e\x80-\xff]/
