import type {Check} from '../../src/guardrails/check.ts'
import type {JsonValue} from '../../src/guardrails/json.ts'
import {answered, type CheckSetup, said} from './support.ts'

export const MB = 1024 * 1024
export const fill = (part: string) => part.repeat(Math.ceil(MB / part.length)).slice(0, MB)

/** A megabyte each, made to be looked at again and again by whoever is careless. */
export const HOSTILE: Readonly<Record<string, string>> = {
  'one letter': fill('a'),
  'letters and then another': `${fill('a').slice(1)}!`,
  braces: fill('{'),
  'braces and quotes': fill('{"'),
  'deep JSON': `${'{"a":'.repeat(MB / 8)}1${'}'.repeat(MB / 8)}`,
  'deep lists': '['.repeat(MB / 2) + ']'.repeat(MB / 2),
  fences: fill('```'),
  'fences of JSON': fill('```json\n{}\n```\n'),
  'backslashes in a string': `{"${fill('\\')}`,
  'addresses of pages': fill('https://a.example/1 '),
  'one long address': `https://${fill('a.')}`,
  'spaces and then a letter': `${fill(' ')}x`,
  'line breaks': fill('\n'),
  'half a pair': fill('\ud83d'),
  'letters at random': Array.from({length: MB}, (_, at) => 'ab'[Math.imul(at * at + 7, 0x9e3779b1) >>> 31]).join(''),
  digits: fill('4111 '),
  'e-mail addresses': fill('a@example.com '),
  prose: fill('The order of Mrs. Müller, no. 4711-22, is ready since 3 May; please call +44 20 7946 0958. '),
  'a document of many shapes': `{"a":${JSON.stringify(Array.from({length: 75_000}, (_, at) => ({[`k${at}`]: 1})))}}`,
  'a valid document': JSON.stringify(
    Object.fromEntries(Array.from({length: 45_000}, (_, at) => [`key_${at}`, [at, 'a']])),
  ),
}

/** Parameters with which each check has something to do. */
export const PARAMETERS: Readonly<Record<string, Record<string, unknown>>> = {
  'default.regexMatch': {rule: '^(([a-z{"])+.)+[A-Z]([a-z])+$', redact: true},
  'default.regexReplace': {rule: '/(a|aa)+$/gi'},
  'default.contains': {words: ['aaaaaaaab', '{{{{}', '```x']},
  'default.endsWith': {suffix: 'zz'},
  'default.jsonSchema': {
    schema: {type: 'object', additionalProperties: {$ref: '#'}, propertyNames: {pattern: '^(a+)+$'}},
  },
  'default.jsonKeys': {keys: ['a', 'zz']},
  'default.containsCode': {format: 'JSON'},
  'default.modelWhitelist': {models: ['m']},
  'default.modelRules': {rules: {defaults: ['m']}},
  'default.requestParametersCheck': {tools: {blockedTypes: ['x']}},
  'default.requiredMetadataKeys': {metadataKeys: ['k']},
  'default.requiredMetadataKeyValuePairs': {metadataPairs: {k: '^(a+)+$'}, matchType: 'regex'},
  'default.jwt': {jwks: {keys: []}},
  'default.webhook': {webhookURL: 'https://guard.example.com/'},
  'default.log': {logURL: 'https://log.example.com/'},
  'default.addPrefix': {prefix: 'p'},
}

/** A call on which `check` has `text` everywhere it looks. */
export function hostileWorld(check: Check, text: string): CheckSetup & {readonly side: 'input' | 'output'} {
  const side = check.sides[0]!
  return {
    side,
    body: side === 'input' ? said(text) : answered(text),
    metadata: {k: text},
    headers: {authorization: text},
    model: text,
    impatient: true,
  }
}

/** As much again in eighteen thousand messages, and in as many parts of one. */
export const CROWDED: Readonly<Record<string, JsonValue>> = {
  'many messages': said(
    'The last one.',
    ...Array.from({length: 18_000}, (_, at) => ({role: 'user', content: `a@example.com and secret ${at}`})),
  ),
  'many parts': said(Array.from({length: 18_000}, (_, at) => ({type: 'text', text: `a@example.com and secret ${at}`}))),
}

/** Checks that redact, at work on all of it. */
export const REDACTIONS: Readonly<Record<string, Record<string, unknown>>> = {
  'default.regexMatch': {rule: 'secret \\d+', redact: true},
  'default.regexReplace': {rule: '/secret/gi'},
  'default.pii': {redact: true, reversible: true},
}
