import {SIGN_IN_REASONS, type SignInFault} from '../identity/sign-in-fault.ts'

type ReasonKind = (typeof SIGN_IN_REASONS)[keyof typeof SIGN_IN_REASONS]['kind']

/** The sentences that people read, by the class of a reason: an attacker learns no more of it than they say. */
const SENTENCES: Readonly<Record<ReasonKind, string>> = {
  broken: 'This sign-in is not one that this browser began, or it took too long. Begin again.',
  used: 'This sign-in happened already. Go on, or begin again.',
  denied: 'The identity provider did not let you in.',
  provider:
    'The identity provider answered with an error. Try again; if it stays, an administrator ' +
    'finds the cause in the audit log.',
  unreachable: 'The identity provider cannot be reached now. Try again shortly.',
  statement:
    'What the identity provider says about you could not be verified. An administrator finds ' +
    'the cause in the audit log.',
  credentials: 'The user name or the password is wrong.',
  too_many: 'There were too many attempts. Try again later: in a quarter of an hour at the latest.',
  person: 'You have no access here. Ask an administrator of this gateway to let you in.',
  invite: 'Open the invite’s link to accept it.',
  conflict: 'Your address belongs to another identity. An administrator can remove that link.',
  proof:
    'This address belongs to an owner or admin. Sign in once as that person and connect the ' +
    'provider, or run `gateway identities link`.',
  absent: 'No sign-in is set up for this. An administrator sets one up with `gateway sso`.',
  several: 'Several organisations offer single sign-on: send organisation_id or email.',
  origin: 'This request did not come from this gateway’s own pages.',
  insecure:
    'Browsers keep no session over plain http. Open this gateway by https: `gateway certs` ' +
    'makes a certificate, or a proxy in front ends TLS; CONTROL_PLANE_URL names that address.',
}

const CODES: Readonly<Record<number, string>> = {
  400: 'AB01',
  401: 'AB05',
  403: 'AB03',
  404: 'AB08',
  409: 'AB07',
  429: 'AB06',
  502: 'AB04',
  503: 'AB04',
}

/** A refusal as the reply carries it. */
export interface RefusalView {
  readonly status: number
  readonly message: string
  readonly error_code: string
}

export function viewOf({reason, status}: SignInFault): RefusalView {
  return {status, message: SENTENCES[SIGN_IN_REASONS[reason].kind], error_code: CODES[status] ?? 'AB04'}
}
