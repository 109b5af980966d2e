import {readBaseUrl} from '../base/egress/base-url.ts'
import {Refusal} from '../base/errors.ts'
import {kind, quoted, type SettingKind} from './kinds.ts'

export type AuditFormat = 'rfc5424' | 'cef' | 'json'

interface OfEverySink {
  /** Its place. The marks of the sink are kept under it, whatever its format. */
  readonly name: string
  readonly format: AuditFormat
  /** As it was given. */
  readonly text: string
}

export interface SyslogSink extends OfEverySink {
  readonly kind: 'syslog'
  readonly secure: boolean
  readonly hostname: string
  readonly port: number
  /** Paths of PEM files. */
  readonly ca: string | undefined
  readonly cert: string | undefined
  readonly key: string | undefined
}

export interface FileSink extends OfEverySink {
  readonly kind: 'file'
  readonly path: string
}

/** A place outside that gets every row of the audit log. */
export type AuditSink = SyslogSink | FileSink

const MAX_SINKS = 8
const TAKES = 'syslog+tls://host:6514, syslog+tcp://host:601 or file:/path, each with ?format=rfc5424, cef or json'
/** RFC 5425, and syslog-conn of RFC 6587. */
const PORTS = {tls: 6514, tcp: 601} as const
const PARAMETERS = ['format', 'ca', 'cert', 'key'] as const
type Wrong = (clause: string) => undefined

/** Places that get a copy of the audit log. */
export const auditSinks: SettingKind<readonly AuditSink[]> = {
  ...kind<readonly AuditSink[]>(`a comma separated list of ${TAKES}`, (text, wrong) => {
    const entries = text
      .split(',')
      .map(entry => entry.trim())
      .filter(Boolean)
    if (entries.length > MAX_SINKS) return wrong(`it takes at most ${MAX_SINKS} places`)
    const sinks: AuditSink[] = []
    for (const entry of entries) {
      const sink = readSink(entry, clause => wrong(`${quoted(entry)}: ${clause}`))
      if (!sink) return undefined
      if (sinks.some(({name}) => name === sink.name)) return wrong(`it names ${quoted(sink.name)} twice`)
      sinks.push(sink)
    }
    return Object.freeze(sinks)
  }),
  list: true,
  show: sinks => sinks.map(({text}) => text).join(', '),
}

function readSink(text: string, wrong: Wrong): AuditSink | undefined {
  if (text.length > 4096 || /[\x00-\x1f\x7f]/.test(text)) return wrong(`it takes ${TAKES}`)
  const [place = '', query, more] = text.split('?')
  const parameters = new URLSearchParams(query)
  const unknown = [...parameters.keys()].find(key => !PARAMETERS.some(known => known === key))
  if (unknown !== undefined || more !== undefined)
    return wrong(`behind ? it takes ${PARAMETERS.join(', ')}, and not ${quoted(unknown ?? '?')}`)
  const format = formatOf(parameters.get('format'), place.startsWith('file:') ? 'json' : 'rfc5424')
  if (!format) return wrong('format is rfc5424, cef or json')
  const [, path] = /^file:(?:\/\/)?(\/[^/].*)$/.exec(place) ?? []
  if (path !== undefined) {
    const alone = PARAMETERS.slice(1).find(name => parameters.has(name))
    if (alone) return wrong(`${alone} is of syslog+tls alone`)
    return {kind: 'file', name: `file:${path}`, path, format, text}
  }
  return syslogSink({place, parameters, format, text}, wrong)
}

interface ReadSink {
  readonly place: string
  readonly parameters: URLSearchParams
  readonly format: AuditFormat
  readonly text: string
}

function syslogSink({place, parameters, format, text}: ReadSink, wrong: Wrong): SyslogSink | undefined {
  const [, layer, authority = ''] = /^syslog\+(tls|tcp):\/\/([^/]+)\/?$/.exec(place) ?? []
  if (layer !== 'tls' && layer !== 'tcp') return wrong(`it takes ${TAKES}`)
  const secure = layer === 'tls'
  const [ca, cert, key] = PARAMETERS.slice(1).map(name => parameters.get(name) || undefined)
  if (!secure && (ca ?? cert ?? key) !== undefined) return wrong('ca, cert and key are of syslog+tls alone')
  if ((cert === undefined) !== (key === undefined)) return wrong('cert and key need each other')
  try {
    const {hostname, port} = readBaseUrl(`${secure ? 'https' : 'http'}://${authority}`)
    const at = /:\d+$/.test(authority) ? port : PORTS[layer]
    const shown = hostname.includes(':') ? `[${hostname}]` : hostname
    const name = `syslog+${layer}://${shown}:${at}`
    return {kind: 'syslog', name, secure, hostname, port: at, ca, cert, key, format, text}
  } catch (fault) {
    if (!(fault instanceof Refusal)) throw fault
    return wrong(String(fault.details.reason))
  }
}

function formatOf(given: string | null, usual: AuditFormat): AuditFormat | undefined {
  if (given === null) return usual
  return (['rfc5424', 'cef', 'json'] as const).find(known => known === given)
}
