import {isIPv4, isIPv6} from 'node:net'
import {version} from '../../base/runtime.ts'
import {type AuditEvent, sentenceOf} from './event.ts'

/**
 * A line of ArcSight's Common Event Format, version 0. Names of extensions are those of its dictionary; what it has no
 * name for is in its custom texts, each with a label.
 */
export function toCef(event: AuditEvent): string {
  const severity = event.result === 'success' ? 3 : 6
  const signature = `${event.resource_type}:${event.action}`
  const name = `${event.action} ${event.resource_type}`
  const head = ['CEF:0', 'Gateway', 'Gateway', version, signature, name, String(severity)]
  return `${head.map((text, at) => (at === 0 ? text : headerText(text))).join('|')}|${extensions(event)}`
}

function extensions(event: AuditEvent): string {
  const {client_ip: ip} = event
  const pairs: readonly (readonly [string, string | number | null])[] = [
    ['rt', Date.parse(event.timestamp)],
    ['externalId', event.id],
    ['act', event.action],
    ['outcome', event.result],
    ['suid', event.user_id],
    ['spriv', event.user_type],
    ['src', ip !== null && isIPv4(ip) ? ip : null],
    ...labelled('c6a2', 'Source IPv6 Address', ip !== null && isIPv6(ip) ? ip : null),
    ['requestMethod', event.method || null],
    ['request', event.uri || null],
    ...labelled('cn1', 'sequence', event.sequence),
    ...labelled('cn2', 'status', event.response_status_code),
    ...labelled('cs1', 'organisation', event.organisation_id),
    ...labelled('cs2', 'workspace', event.workspace_id),
    ...labelled('cs3', 'resource', event.resource_id),
    ...labelled('cs4', 'requestId', event.request_id),
    ...labelled('cs5', 'chain', event.chain),
    ...labelled('cs6', 'previousChain', event.previous_chain ?? 'missing'),
    ...labelled('flexString1', 'name', event.resource_name),
    ...labelled('flexString2', 'changedFields', event.changed_fields?.join(',') ?? null),
    ['msg', sentenceOf(event)],
  ]
  return pairs
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}=${valueText(String(value))}`)
    .join(' ')
}

const labelled = (name: string, label: string, value: string | number | null) =>
  value === null ? [] : ([[name, value] as const, [`${name}Label`, label] as const] as const)

const CONTROLS = /[\x00-\x1f\x7f-\x9f\u2028\u2029]/g

function headerText(text: string): string {
  return text.replace(/[\\|]/g, '\\$&').replace(CONTROLS, ' ')
}

function valueText(text: string): string {
  return text.replace(/[\\=]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r').replace(CONTROLS, ' ')
}
