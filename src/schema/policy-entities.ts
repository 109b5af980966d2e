import {createHash} from 'node:crypto'

/** Names an entity in a path: its value key can hold whatever a call's metadata does. */
export function policyEntityId(policy_id: string, value_key: string): string {
  return createHash('sha256').update(`${policy_id}\n${value_key}`).digest('hex').slice(0, 32)
}
