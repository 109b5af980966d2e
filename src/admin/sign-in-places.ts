import type {z} from 'zod'
import type {SignInPlaces} from '../schema/sso.ts'
import {linkBase} from './link-base.ts'
import type {AdminServices} from './services.ts'

/** The addresses of this gateway that are typed in at identity providers and directories. */
export function signInPlaces(
  {settings}: Pick<AdminServices, 'settings'>,
  organisation_id: string,
): z.input<typeof SignInPlaces> {
  const base = linkBase({settings})
  return {
    login_url: `${base}/v2/auth/login?organisation_id=${organisation_id}`,
    oidc_redirect_uri: `${base}/v2/auth/callback`,
    oidc_initiate_login_uri: `${base}/v2/auth/initiate`,
    oidc_backchannel_logout_uri: `${base}/v2/auth/backchannel`,
    oidc_post_logout_redirect_uri: `${base}/v2/auth/signed-out`,
    saml_acs_url: `${base}/v2/auth/saml/callback/${organisation_id}`,
    saml_entity_id: `${base}/v2/auth/saml`,
    saml_metadata_url: `${base}/v2/auth/saml/metadata/${organisation_id}`,
    scim_base_url: `${base}/v1/scim/v2`,
  }
}
