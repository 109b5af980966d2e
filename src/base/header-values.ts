import {isUtf8} from 'node:buffer'

/** Characters that no value of a header holds (RFC 9110, section 5.5), each one byte. */
export const NOT_IN_HEADER_VALUES = /[^\t\x20-\x7e\x80-\xff]/

const NOT_ASCII = /[\x80-\uffff]/
const NOT_BYTES = /[\u0100-\uffff]/

/**
 * The text of a header, whose value came as one character a byte: UTF-8 where the bytes are that, else Latin-1. A text
 * that was read before stays.
 */
export function headerText(value: string): string {
  if (!NOT_ASCII.test(value) || NOT_BYTES.test(value)) return value
  const bytes = Buffer.from(value, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : value
}

/** A text as the value of a header: the bytes of its UTF-8, one character each. */
export function writtenHeader(text: string): string {
  return NOT_ASCII.test(text) ? Buffer.from(text).toString('latin1') : text
}
