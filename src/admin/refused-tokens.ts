import type {JsonValue} from '../base/json-member.ts'
import type {RefusedToken} from '../identity/jwt/tokens.ts'
import {type RefusalOptions, RefusedCredentials} from './refused-credentials.ts'

const LONGEST_SHOWN = 255

/**
 * Notes refused tokens, by organisation, reason and address. Where the organisation is unknown, the process log has it.
 */
export class RefusedTokens {
  readonly #options: RefusalOptions
  readonly #refused: RefusedCredentials

  constructor(options: RefusalOptions) {
    this.#options = options
    this.#refused = new RefusedCredentials(options)
  }

  /** Never throws, and waits for nothing. */
  note(refused: RefusedToken): void {
    const {organisation_id, code, reason, status, client_ip} = refused
    this.#refused.note(`${organisation_id}\0${code}\0${client_ip}`, count => {
      if (organisation_id !== null)
        return {
          ...{organisation_id, workspace_id: null, status, client_ip},
          resource_type: 'jwt',
          resource_id: null,
          body: bodyOf(refused, count),
        }
      this.#options.log.warn({reason, client_ip, count}, 'a token was refused')
      return null
    })
  }
}

function bodyOf({token, reason, kid, subject, issuer}: RefusedToken, count: number) {
  return {
    jwtToken: `${token.slice(0, 2)}****${token.slice(-2)}`,
    error: reason,
    kid: shown(kid),
    subject: shown(subject),
    iss: shown(issuer),
    count,
  }
}

function shown(value: JsonValue | undefined): string | null {
  return typeof value === 'string' ? value.slice(0, LONGEST_SHOWN) : null
}
