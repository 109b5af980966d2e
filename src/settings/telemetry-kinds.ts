import {kind, quoted, type SettingKind} from './kinds.ts'

const MAX_ENTRIES = 100
const MAX_CHARACTERS = 4096
/** Header names (RFC 9110, 5.1), and names of attributes likewise. */
const NAME = /^[!#$%&'*+.^_`|~0-9a-z/-]{1,255}$/i

/** A list of `name=value`, values percent-encoded, as the OpenTelemetry specification writes it. */
export type NamedValues = Readonly<Record<string, string>>

/** Names and values of headers. An entry that is wrong is named by its place: it may hold a secret. */
export const otlpHeaders: SettingKind<NamedValues> = kind(
  'a comma separated list of name=value, values percent-encoded',
  (text, wrong) =>
    namedValues(text, (entry, at) => {
      const found = split(entry)
      if (!found || !NAME.test(found[0])) return wrong(`entry ${at} is no name=value`)
      if (RESERVED.has(found[0].toLowerCase())) return wrong(`the gateway itself sets ${found[0].toLowerCase()}`)
      if (/[^\t\x20-\x7e\x80-\xff]/.test(found[1])) return wrong(`the value of entry ${at} cannot be sent in a header`)
      return [found[0].toLowerCase(), found[1]]
    }),
)

const RESERVED: ReadonlySet<string> = new Set([
  'content-length',
  'content-type',
  'content-encoding',
  'transfer-encoding',
  'connection',
  'host',
])

/** Attributes that say whose telemetry it is. One bad entry refuses the start, so that none is lost unseen. */
export const resourceAttributes: SettingKind<NamedValues> = {
  ...kind('a comma separated list of name=value, values percent-encoded', (text, wrong) =>
    namedValues(text, entry => split(entry) ?? wrong(`the entry ${quoted(entry)} is no name=value`)),
  ),
  show: values =>
    Object.entries(values)
      .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
      .join(','),
}

/** Which calls' spans are sent (OTEL_TRACES_SAMPLER). */
export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const
export type SamplerName = (typeof SAMPLERS)[number]

type Protocol = 'http/json' | 'http/protobuf'

export const otlpProtocol: SettingKind<Protocol> = kind('http/json or http/protobuf', (text, wrong) => {
  if (text === 'grpc') return wrong('grpc is not spoken here: send to the OTLP/HTTP port of the collector (4318)')
  return text === 'http/json' || text === 'http/protobuf' ? text : undefined
})

function namedValues(
  text: string,
  read: (entry: string, at: number) => readonly [string, string] | undefined,
): NamedValues | undefined {
  const entries = text.split(',').map(entry => entry.trim())
  if (text.length > MAX_CHARACTERS || entries.length > MAX_ENTRIES) return undefined
  const found: [string, string][] = []
  for (const [at, entry] of entries.entries()) {
    if (entry === '') continue
    const named = read(entry, at + 1)
    if (!named) return undefined
    found.push([...named])
  }
  return Object.freeze(Object.fromEntries(found))
}

/** A value may hold `=`; a comma in it is `%2C`. */
function split(entry: string): readonly [string, string] | undefined {
  const end = entry.indexOf('=')
  if (end < 1) return undefined
  try {
    return [decodeURIComponent(entry.slice(0, end).trim()), decodeURIComponent(entry.slice(end + 1).trim())]
  } catch {
    return undefined
  }
}
