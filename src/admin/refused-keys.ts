import type {RefusedKey} from '../identity/sign-in-needs.ts'
import {type RefusalOptions, RefusedCredentials} from './refused-credentials.ts'

/** Notes keys whose person has to sign in, by key and address. */
export class RefusedKeys {
  readonly #refused: RefusedCredentials

  constructor(options: RefusalOptions) {
    this.#refused = new RefusedCredentials(options)
  }

  /** Never throws, and waits for nothing. */
  note({organisation_id, workspace_id, key_id, user_id, reason, status, client_ip}: RefusedKey): void {
    this.#refused.note(`${key_id}\0${client_ip}`, count => ({
      ...{organisation_id, workspace_id, status, client_ip},
      resource_type: 'api-key',
      resource_id: key_id,
      body: {error: reason, user_id, count},
    }))
  }
}
