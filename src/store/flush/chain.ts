import {hash} from 'node:crypto'

/** The hash before the first entry of a writer. */
export const CHAIN_START = '0'.repeat(64)

/**
 * The hash of an entry (64 hex digits): SHA-256 over the hash of its writer's entry before and the JSON of its own
 * values (core rule 14).
 */
export function link(previous: string, values: string): string {
  return hash('sha256', `${previous}\n${values}`, 'hex')
}
