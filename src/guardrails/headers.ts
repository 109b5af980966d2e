import {createHash} from 'node:crypto'
import {z} from 'zod'
import {NOT_IN_HEADER_VALUES} from '../base/header-values.ts'
import {parsed} from '../base/json-object.ts'
import {HOP_BY_HOP, isOwn, NEVER_FORWARDED, SECRET_HEADERS} from '../schema/headers.ts'
import type {CheckContext} from './check.ts'

const NAME = /^[a-z0-9-]{1,100}$/

/** Headers to send, as an object or as its JSON. */
export const headersParameter = z
  .union([
    z.record(z.string(), z.string()),
    z.string().transform((text, refused): Record<string, string> => {
      const read = z.record(z.string(), z.string()).safeParse(text.trim() ? parsed(text) : {})
      if (read.success) return read.data
      refused.addIssue({code: 'custom', message: 'must be an object of texts, or its JSON'})
      return z.NEVER
    }),
  ])
  .transform((text, refused) => {
    const headers = Object.entries(text).map(([name, value]): [string, string] => [name.toLowerCase(), value])
    for (const [name, value] of headers) {
      if (!/^[!#$%&'*+.^_`|~\w-]{1,256}$/.test(name) || NOT_IN_HEADER_VALUES.test(value))
        refused.addIssue({code: 'custom', message: `has ${JSON.stringify(name.slice(0, 100))}, which is no header`})
      else if (NEVER_FORWARDED.has(name))
        refused.addIssue({code: 'custom', message: `has ${name}, which cannot be set`})
    }
    return Object.fromEntries(headers)
  })
  .default({})
  .describe('Headers to send, an object or its JSON.')
  .meta({writeOnly: true})

/** Names of the client's headers to hand on (docs/guardrails.md, `default.webhook`). */
export const forwardedParameter = z
  .array(z.string())
  .default([])
  .transform((text, refused) => {
    const names = text.map(name => name.trim().toLowerCase())
    for (const name of names) {
      const why = NAME.test(name)
        ? isBarred(name)
          ? 'is never handed on'
          : undefined
        : 'is no name of letters, digits and hyphens'
      if (why) refused.addIssue({code: 'custom', message: `has ${JSON.stringify(name.slice(0, 100))}, which ${why}`})
    }
    return names
  })
  .describe('Names of the client’s headers to hand on. Credentials, cookies and most headers of the gateway never are.')

function isBarred(name: string): boolean {
  if (isOwn(name)) return !/^x-[a-z]+-(?:trace-id|span-id)$/.test(name)
  return SECRET_HEADERS.has(name) || NEVER_FORWARDED.has(name) || HOP_BY_HOP.has(name)
}

/**
 * The headers of a call to a service of the user's: the type JSON, the configured ones, those of the client that were
 * named, and the place in the trace.
 */
export function outgoingHeaders(
  own: Readonly<Record<string, string>>,
  forwarded: readonly string[],
  context: CheckContext,
) {
  const handed = forwarded
    .filter(name => Object.hasOwn(context.headers, name))
    .map(name => [name, context.headers[name]!] as const)
  return {
    traceparent: traceparent(context.trace),
    ...Object.fromEntries(handed),
    ...own,
    'content-type': 'application/json',
  }
}

/** W3C Trace Context, from ids that may have any form. */
function traceparent({trace_id, span_id}: CheckContext['trace']): string {
  return `00-${hexOf(trace_id, 32)}-${hexOf(span_id, 16)}-01`
}

function hexOf(id: string, digits: number): string {
  const plain = id.replaceAll('-', '').toLowerCase()
  if (plain.length === digits && /^[\da-f]+$/.test(plain) && /[^0]/.test(plain)) return plain
  return createHash('sha256').update(id).digest('hex').slice(0, digits)
}

/** An http or https URL without credentials. */
export const urlParameter = (what: string) =>
  z
    .string()
    .max(2048)
    .refine(isWebUrl, 'must be an http or https URL without a user name')
    .describe(what)
    .meta({format: 'uri'})

function isWebUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const {protocol, username, password} = new URL(text)
  return (protocol === 'http:' || protocol === 'https:') && !username && !password
}

export const timeoutParameter = (fallback_ms: number) =>
  z.int().min(1).max(60_000).default(fallback_ms).describe('Milliseconds to wait for the answer.')
