import {readMetadata} from '../../../src/identity/saml/metadata.ts'
import {type ReceivedResponse, type VerifiedResponse, verifiedResponse} from '../../../src/identity/saml/response.ts'
import {SignInFault} from '../../../src/identity/sign-in-fault.ts'
import {SAML_DEFAULTS, type SamlSettings} from '../../../src/schema/connections.ts'
import {type Answer, encoded, SamlIdp} from './idp.ts'

export const ACS = 'https://gateway.example.test/v2/auth/saml/callback/a'
export const AUDIENCE = 'https://gateway.example.test/v2/auth/saml'
export const REQUEST_ID = '_0123456789abcdef0123456789abcdef'
export const NOW_MS = Date.parse('2026-11-27T12:00:00Z')
export const REQUEST = {id: REQUEST_ID, acs_url: ACS, entity_id: AUDIENCE}

export function openIdp(): SamlIdp {
  return new SamlIdp({now_ms: () => NOW_MS})
}

/** Judges a Response as the gateway would, with one sign-in open. */
export async function judged(
  idp: SamlIdp,
  xml: string,
  settings: Partial<SamlSettings> = {},
  received: Partial<ReceivedResponse> = {},
): Promise<VerifiedResponse> {
  return await verifiedResponse({
    ...{saml_response: encoded(xml), provider: await readMetadata(idp.metadata, null, NOW_MS)},
    ...{settings: {...SAML_DEFAULTS, ...settings}, recipients: [ACS], audiences: [AUDIENCE]},
    ...{expected_request_id: (id: string) => id === REQUEST_ID, now_ms: NOW_MS, decryption_key: null},
    ...received,
  })
}

export async function answered(
  idp: SamlIdp,
  answer: Answer = {},
  settings: Partial<SamlSettings> = {},
  received: Partial<ReceivedResponse> = {},
): Promise<VerifiedResponse> {
  return await judged(idp, await idp.respond(REQUEST, answer), settings, received)
}

/** The reason of a refusal; `accepted: …` with the address where there is none. Other faults are thrown. */
export async function reasonOf(judging: Promise<VerifiedResponse>): Promise<string> {
  try {
    return `accepted: ${(await judging).statement.email}`
  } catch (fault) {
    if (fault instanceof SignInFault) return fault.reason
    throw fault
  }
}
