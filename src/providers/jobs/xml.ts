import type {ProviderFault, TranslationContext} from '../translation.ts'

/**
 * The text of the first element of this name, as stores of objects write their answers: plainly, without CDATA. Null:
 * there is none.
 */
export function textOf(xml: string, name: string): string | null {
  const found = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]
  return found === undefined
    ? null
    : found.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,4}));/gi, (whole, ...of) => entity(whole, of))
}

/** The text between the tags of each element of this name. */
export function elementsOf(xml: string, name: string): readonly string[] {
  return xml
    .split(`<${name}>`)
    .slice(1)
    .map(rest => rest.slice(0, Math.max(0, rest.indexOf(`</${name}>`))))
}

export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** The error of an object store: in XML, or the status alone where an answer has no body; null for other bodies. */
export function storeFault(status: number, body: Buffer, {provider}: TranslationContext): ProviderFault | null {
  const text = body.toString('utf8')
  const faultOf = (message: string, type: string | null) => ({
    message: `${provider} error: ${message}`,
    type,
    param: null,
    code: null,
  })
  if (text === '' && status === 404) return faultOf('there is no such file', 'NotFound')
  const message = text.includes('<Error>') ? textOf(text, 'Message') : null
  return message === null ? null : faultOf(message, textOf(text, 'Code'))
}

function entity(whole: string, [decimal, hex, name]: readonly (string | undefined)[]): string {
  const point = decimal ? Number(decimal) : hex ? Number.parseInt(hex, 16) : null
  if (point !== null) return point <= 0x10ffff ? String.fromCodePoint(point) : whole
  return ENTITIES[name ?? ''] ?? whole
}

const ENTITIES: Readonly<Record<string, string>> = {amp: '&', lt: '<', gt: '>', quot: '"', apos: "'"}
