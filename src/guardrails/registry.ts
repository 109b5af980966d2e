import {nearest} from '../base/nearest.ts'
import type {Check} from './check.ts'
import {addPrefix} from './checks/add-prefix.ts'
import {allowedRequestTypes} from './checks/allowed-request-types.ts'
import {contains} from './checks/contains.ts'
import {containsCode} from './checks/contains-code.ts'
import {characterCount, sentenceCount, wordCount} from './checks/counts.ts'
import {inlineImageUrls} from './checks/inline-image-urls.ts'
import {jsonKeys} from './checks/json-keys.ts'
import {jsonSchema} from './checks/json-schema.ts'
import {jwt} from './checks/jwt.ts'
import {alllowercase, alluppercase, endsWith, notNull} from './checks/letters.ts'
import {log} from './checks/log.ts'
import {modelRules, modelWhitelist} from './checks/models.ts'
import {pii} from './checks/pii.ts'
import {promptInjection} from './checks/prompt-injection.ts'
import {regexMatch} from './checks/regex-match.ts'
import {regexReplace} from './checks/regex-replace.ts'
import {requestParametersCheck} from './checks/request-parameters.ts'
import {requiredMetadataKeys, requiredMetadataKeyValuePairs} from './checks/required-metadata.ts'
import {validUrls} from './checks/valid-urls.ts'
import {webhook} from './checks/webhook.ts'
import {PARTNERS} from './partners/index.ts'

/** Every built-in check, in the order of the documentation. */
export const CHECKS: readonly Check[] = [
  regexMatch,
  regexReplace,
  contains,
  sentenceCount,
  wordCount,
  characterCount,
  alluppercase,
  alllowercase,
  endsWith,
  notNull,
  jsonSchema,
  jsonKeys,
  containsCode,
  validUrls,
  modelWhitelist,
  modelRules,
  allowedRequestTypes,
  requestParametersCheck,
  requiredMetadataKeys,
  requiredMetadataKeyValuePairs,
  jwt,
  webhook,
  log,
  addPrefix,
  inlineImageUrls,
  pii,
  promptInjection,
]

/** Checks by every name they have. */
export interface Registry {
  /** A name without a namespace is one of `default`; case never matters. */
  find(id: string): Check | undefined
  /** The error message for an id that is no check's. */
  unknown(id: string): string
}

export function registry(checks: readonly Check[]): Registry {
  const known = new Map(
    checks.flatMap(check => [check.id, ...check.aliases].map(id => [id.toLowerCase(), check] as const)),
  )
  const ids = checks.map(check => check.id)
  return {
    find: id => known.get(fullId(id).toLowerCase()),
    unknown(id) {
      const like = nearest(fullId(id), ids)
      return `There is no check ${JSON.stringify(id.slice(0, 100))}${like ? `: did you mean ${like}?` : '.'}`
    },
  }
}

/** These and the partners'. */
export const ALL_CHECKS: readonly Check[] = [...CHECKS, ...PARTNERS]

export const BUILT_IN: Registry = registry(ALL_CHECKS)

function fullId(id: string): string {
  return id.includes('.') ? id : `default.${id}`
}
