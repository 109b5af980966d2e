import type {Seal} from '../../base/seal.ts'
import {openConfigurations} from '../../store/mcp-integrations.ts'
import type {CredentialsFor} from './services.ts'

/** The credential that an integration holds itself: its headers. One that needs a person's has none. */
export function ownCredential(seal: Seal): CredentialsFor {
  return integration => {
    if (integration.auth_type === 'oauth_auto') return {auth_required: true}
    const {custom_headers = {}} = openConfigurations(seal, integration)
    const has_any = Object.keys(custom_headers).length > 0
    return {headers: () => custom_headers, credential: has_any ? 'standing' : 'none'}
  }
}
