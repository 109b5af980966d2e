import type {Seal} from '../base/seal.ts'
import type {SecretReferencesTable} from '../store/tables/registry.ts'
import {MAX_CONTENT_BYTES, picked} from './contents.ts'
import {asManagerFault} from './manager-fault.ts'
import {looksCut} from './managers/aws/place.ts'
import type {ReadSecret} from './managers/reading.ts'
import type {ReferenceTest} from './port.ts'
import {knownReference} from './references.ts'
import type {SecretValues} from './values.ts'

export type TestedReference = SecretReferencesTable

interface TestParts {
  readonly read: ReadSecret
  readonly values: Pick<SecretValues, 'age_ms' | 'clear'>
  readonly seal: Pick<Seal, 'open'>
  readonly steady: () => number
}

/** Reads the secret of a reference once, and says of it what is no secret. A fault that calls remember is forgotten. */
export async function testedReference(
  row: TestedReference,
  {read, values, seal, steady}: TestParts,
): Promise<ReferenceTest> {
  const reference = knownReference(row, null, seal)
  const begun = steady()
  const age_ms = values.age_ms(row.id)
  const found = {
    age_s: age_ms === null ? null : Math.floor(age_ms / 1000),
    warning: row.manager_type === 'aws_sm' && looksCut(row.secret_path) ? LOOKS_CUT : null,
  }
  const taken_ms = () => Math.round(steady() - begun)
  try {
    const {content, version} = await read(reference.place())
    values.clear(row.id)
    const key_present = row.secret_key === null ? null : typeof picked(content, row.secret_key) !== 'string'
    const is_long = Buffer.byteLength(content.text) > MAX_CONTENT_BYTES
    const error = is_long
      ? 'its secret is longer than 64 KB'
      : key_present === false
        ? `its secret has no key ${JSON.stringify(row.secret_key)}`
        : null
    return {reachable: true, allowed: true, key_present, ...found, version, response_time_ms: taken_ms(), error}
  } catch (fault) {
    const known = asManagerFault(fault, 'its manager')
    const {kind, message: error, is_definite} = known
    const reachable = is_definite || kind === 'throttled'
    const allowed = is_definite && kind !== 'denied'
    return {reachable, allowed, key_present: null, ...found, version: null, response_time_ms: taken_ms(), error}
  }
}

const LOOKS_CUT = 'secret_path ends as an ARN does, so that AWS may not find it. Name it by its whole ARN.'
