import type {KeyObject} from 'node:crypto'
import type {SamlSettings} from '../../schema/connections.ts'
import {SignInFault} from '../sign-in-fault.ts'
import {DecryptionFault, decrypted} from './encryption.ts'
import {type Envelope, type EnvelopeRules, readEnvelope} from './envelope.ts'
import {type MarkupLimits, XmlFault} from './markup.ts'
import {ASSERTION} from './names.ts'
import {signedElements} from './signatures.ts'
import {elementsIn, isNamed, readXml, type XmlElement} from './xml.ts'

export interface CoverRules {
  readonly rules: EnvelopeRules
  readonly signed: SamlSettings['signed']
  /** Signing keys of the provider. */
  readonly keys: readonly KeyObject[]
  /** Null: nothing encrypted is taken. */
  readonly decryption_key: KeyObject | null
  readonly limits: MarkupLimits
}

export interface Covered {
  readonly envelope: Envelope
  /** Read from bytes that a signature covers, never from the document as it came. */
  readonly assertion: XmlElement
}

/** One sentence for every failure inside: a stranger who sends variants of a ciphertext learns nothing from it. */
const SEALED =
  'The encrypted assertion was not decrypted to one that a signature covers. AES-GCM under RSA-OAEP is taken, and ' +
  'AES-CBC where the whole Response is signed.'

/**
 * The assertion of a Response, as far as signatures cover it in the way that the connection wants. Throws a
 * `SignInFault`, or an `XmlFault` for what is no document.
 */
export async function coveredAssertion(text: string, cover: CoverRules): Promise<Covered> {
  const {rules, signed, keys, limits} = cover
  if (keys.length === 0) throw new SignInFault('provider_invalid', 'The provider has no signing key.')
  const document = await readXml(text, limits)
  const outer = readEnvelope(document.root, rules)
  const is_plain = isNamed(outer.assertion, ASSERTION, 'Assertion')
  const elements = await signedElements(document, is_plain ? [document.root, outer.assertion] : [document.root], keys)
  const response = elements.get(document.root)
  const needs_response = signed === 'response' || signed === 'both'
  if (needs_response && !response) throw unsigned('The Response is not signed, which the connection wants.')
  const envelope = response ? readEnvelope(response, rules) : outer
  const inner = is_plain
    ? {signed: elements.get(outer.assertion), plain: response ? envelope.assertion : undefined}
    : await unsealed(envelope.assertion, response !== undefined, cover)
  const needs_assertion = signed === 'assertion' || signed === 'both'
  if (needs_assertion && !inner.signed) throw unsigned('The assertion is not signed, which the connection wants.')
  const assertion = inner.signed ?? inner.plain
  if (!assertion) throw unsigned('No signature covers the assertion.')
  return {envelope, assertion}
}

interface Unsealed {
  /** Canonical, where the assertion is signed itself. */
  readonly signed: XmlElement | undefined
  /** The assertion where the Response is signed. */
  readonly plain: XmlElement | undefined
}

async function unsealed(container: XmlElement, is_signed: boolean, cover: CoverRules): Promise<Unsealed> {
  const {decryption_key, limits, keys} = cover
  if (decryption_key === null) throw new SignInFault('document_encryption', SEALED)
  try {
    const document = await readXml(await decrypted(container, decryption_key, is_signed), limits)
    const {root} = document
    const all = [...elementsIn(root)].filter(
      element => isNamed(element, ASSERTION, 'Assertion') || isNamed(element, ASSERTION, 'EncryptedAssertion'),
    )
    if (all.length !== 1 || !isNamed(root, ASSERTION, 'Assertion')) throw new DecryptionFault('not one assertion')
    const signed = (await signedElements(document, [root], keys)).get(root)
    if (!signed && !is_signed) throw new DecryptionFault('not signed')
    return {signed, plain: is_signed ? root : undefined}
  } catch (fault) {
    const is_ours = fault instanceof DecryptionFault || fault instanceof XmlFault || fault instanceof SignInFault
    if (is_ours) throw new SignInFault('document_encryption', SEALED)
    throw fault
  }
}

function unsigned(detail: string): SignInFault {
  return new SignInFault('document_signature', detail)
}
