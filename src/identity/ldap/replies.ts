import {BerFault, type BerValue, berInteger, readBer} from './ber.ts'
import {utf8} from './names.ts'

/** An entry as found; names of attributes are in lower case, with their options. */
export interface LdapEntry {
  readonly dn: string
  readonly attributes: ReadonlyMap<string, readonly Buffer[]>
}

/** How an operation ended (RFC 4511, 4.1.9). */
export interface LdapResult {
  readonly code: number
  /** For administrators, as the server sent it. */
  readonly diagnostic: string
  readonly controls: readonly LdapControl[]
}

export interface LdapControl {
  readonly type: string
  readonly value: Buffer | null
}

export type LdapReply =
  | {readonly id: number; readonly kind: 'bind' | 'search' | 'extended'; readonly result: LdapResult}
  | {readonly id: number; readonly kind: 'entry'; readonly entry: LdapEntry}
  | {readonly id: number; readonly kind: 'reference'}

const RESULTS: Readonly<Record<number, 'bind' | 'search' | 'extended'>> = {
  97: 'bind',
  101: 'search',
  120: 'extended',
}
const [ENTRY, REFERENCE, CONTROLS] = [0x64, 0x73, 0xa0]
const [INTEGER, OCTETS, ENUMERATED, BOOLEAN, SEQUENCE, SET] = [0x02, 0x04, 0x0a, 0x01, 0x30, 0x31]

/** Reads one message of a server. Throws BerFault for what is none, or none that is expected of one. */
export function readReply(message: Buffer): LdapReply {
  const [number, operation, controls, ...more] = readBer(message).parts
  if (!number || !operation || more.length > 0 || (controls && controls.tag !== CONTROLS)) throw wrong()
  const id = berInteger(expected(number, INTEGER))
  if (operation.tag === ENTRY) return {id, kind: 'entry', entry: readEntry(operation)}
  if (operation.tag === REFERENCE) return {id, kind: 'reference'}
  const kind = RESULTS[operation.tag]
  if (!kind) throw new BerFault(`an answer of the unknown kind ${operation.tag}`)
  return {id, kind, result: readResult(operation, controls?.parts ?? [])}
}

function readResult({parts: [code, matched, diagnostic]}: BerValue, controls: readonly BerValue[]): LdapResult {
  expected(matched, OCTETS)
  return {
    code: berInteger(expected(code, ENUMERATED)),
    diagnostic: expected(diagnostic, OCTETS).bytes.toString(),
    controls: controls.map(readControl),
  }
}

function readControl({parts: [type, ...rest]}: BerValue): LdapControl {
  const [value] = rest.filter(({tag}) => tag !== BOOLEAN)
  return {type: textOf(expected(type, OCTETS)), value: value ? expected(value, OCTETS).bytes : null}
}

function readEntry({parts: [name, list]}: BerValue): LdapEntry {
  const attributes = new Map<string, readonly Buffer[]>()
  for (const {tag, parts} of expected(list, SEQUENCE).parts) {
    if (tag !== SEQUENCE) throw wrong()
    const type = textOf(expected(parts[0], OCTETS)).toLowerCase()
    const values = expected(parts[1], SET).parts.map(value => Buffer.from(expected(value, OCTETS).bytes))
    attributes.set(type, [...(attributes.get(type) ?? []), ...values])
  }
  return {dn: textOf(expected(name, OCTETS)), attributes}
}

function expected(value: BerValue | undefined, tag: number): BerValue {
  if (value?.tag !== tag) throw wrong()
  return value
}

function textOf({bytes}: BerValue): string {
  const text = utf8(bytes)
  if (text === undefined) throw new BerFault('a name is not UTF-8')
  return text
}

function wrong(): BerFault {
  return new BerFault('an answer is not built as RFC 4511 says')
}
