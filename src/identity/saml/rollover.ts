import {SignInFault, type SignInReason} from '../sign-in-fault.ts'
import type {SamlProviders} from './providers.ts'
import {type ReceivedResponse, type VerifiedResponse, verifiedResponse} from './response.ts'

/** Reasons behind which a key may be that the metadata has meanwhile. */
const OF_UNKNOWN_KEYS: ReadonlySet<SignInReason> = new Set(['document_signature', 'document_encryption'])

/**
 * `verifiedResponse` with the provider's metadata as it is; where no key of it signed the document, the metadata is
 * read again, and the document judged once more if it has another key now.
 */
export async function verifiedByProvider(
  providers: Pick<SamlProviders, 'providerOf' | 'changedProviderOf'>,
  received: Omit<ReceivedResponse, 'provider'>,
): Promise<VerifiedResponse> {
  const provider = await providers.providerOf(received.settings)
  try {
    return await verifiedResponse({...received, provider})
  } catch (fault) {
    if (!(fault instanceof SignInFault) || !OF_UNKNOWN_KEYS.has(fault.reason)) throw fault
    const changed = await providers.changedProviderOf(received.settings, provider).catch(() => undefined)
    if (!changed) throw fault
    return await verifiedResponse({...received, provider: changed})
  }
}
