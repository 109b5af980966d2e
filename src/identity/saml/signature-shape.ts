import {printable} from '../printable.ts'
import {SignInFault} from '../sign-in-fault.ts'
import {digestAlgorithm, ENVELOPED, EXCLUSIVE_C14N, type SignatureAlgorithm, signatureAlgorithm} from './algorithms.ts'
import {DSIG} from './names.ts'
import {attributeOf, isNamed, type XmlElement} from './xml.ts'

/** The parts of a Signature that has no others. */
export interface SignatureParts {
  readonly info: XmlElement
  readonly value: Buffer
  /** That stay in the canonical form of `info`. */
  readonly prefixes: readonly string[]
}

/** The content of a SignedInfo, with algorithms that are taken. */
export interface SignedInfo {
  readonly signature: SignatureAlgorithm
  readonly digest: string
  readonly digest_value: Buffer
  /** That stay in the canonical form of the element. */
  readonly prefixes: readonly string[]
}

const MAX_PREFIX_LIST = 1000
const MOST_NAMED = 3
const ID = /^[\w.:-]{1,255}$/

/** Refuses any part but SignedInfo, SignatureValue and KeyInfo, which is not read: a stranger writes into it too. */
export function signatureParts(signature: XmlElement): SignatureParts {
  const names = namesOf(signature)
  if (names !== 'SignedInfo,SignatureValue' && names !== 'SignedInfo,SignatureValue,KeyInfo')
    throw unsigned('A signature has other parts than SignedInfo, SignatureValue and KeyInfo.')
  const [info, value] = signature.children as [XmlElement, XmlElement]
  if (namesOf(info) !== 'CanonicalizationMethod,SignatureMethod,Reference')
    throw unsigned('A signature has not exactly one method of each kind and one Reference.')
  return {info, value: Buffer.from(value.text, 'base64'), prefixes: checkCanonicalization(info.children[0]!)}
}

/**
 * Reads a SignedInfo of one Reference, to `parent`, the element that the signature is in: nothing is ever looked for by
 * its ID. Refuses with `document_algorithm` what is not taken.
 */
export function readSignedInfo(info: XmlElement, parent: XmlElement): SignedInfo {
  if (namesOf(info) !== 'CanonicalizationMethod,SignatureMethod,Reference')
    throw unsigned('A signature has not exactly one method of each kind and one Reference.')
  const [canonicalization, method, reference] = info.children as [XmlElement, XmlElement, XmlElement]
  checkCanonicalization(canonicalization)
  const signature = signatureAlgorithm(attributeOf(method, 'Algorithm'))
  if (!signature || method.children.length > 0) throw refusedAlgorithm('signature', method)
  return {signature, ...readReference(reference, parent)}
}

function readReference(reference: XmlElement, parent: XmlElement): Omit<SignedInfo, 'signature'> {
  const id = attributeOf(parent, 'ID')
  if (id === null || !ID.test(id) || attributeOf(reference, 'URI') !== `#${id}`)
    throw unsigned('The Reference of a signature does not name the element that the signature is in.')
  if (namesOf(reference) !== 'Transforms,DigestMethod,DigestValue')
    throw unsigned('A Reference has other parts than it may.')
  const [transforms, method, value] = reference.children as [XmlElement, XmlElement, XmlElement]
  if (namesOf(transforms) !== 'Transform,Transform')
    throw refusedAlgorithm('transform (enveloped-signature, then exclusive canonicalisation)', ...transforms.children)
  const [enveloped, canonicalization] = transforms.children as [XmlElement, XmlElement]
  if (attributeOf(enveloped, 'Algorithm') !== ENVELOPED) throw refusedAlgorithm('transform', enveloped)
  prefixesOf(enveloped)
  const prefixes = checkCanonicalization(canonicalization)
  const digest = digestAlgorithm(attributeOf(method, 'Algorithm'))
  if (digest === undefined || method.children.length > 0) throw refusedAlgorithm('digest', method)
  return {digest, digest_value: Buffer.from(value.text, 'base64'), prefixes}
}

/** Exclusive, without comments. */
function checkCanonicalization(method: XmlElement): readonly string[] {
  if (attributeOf(method, 'Algorithm') !== EXCLUSIVE_C14N) throw refusedAlgorithm('canonicalisation', method)
  return prefixesOf(method)
}

/**
 * A list of prefixes that stay in the canonical form is all that a method may bring. Signers that use xml-crypto repeat
 * it in the other transform, under the name of that.
 */
function prefixesOf(method: XmlElement): readonly string[] {
  const {children} = method
  const [child, ...more] = children
  if (!child) return []
  const is_list = [EXCLUSIVE_C14N, ENVELOPED].some(namespace => isNamed(child, namespace, 'InclusiveNamespaces'))
  const list = attributeOf(child, 'PrefixList') ?? ''
  if (!is_list || more.length > 0 || list.length > MAX_PREFIX_LIST) throw refusedAlgorithm('canonicalisation', method)
  return list.split(/\s+/).filter(prefix => prefix !== '')
}

/** Names of the children, where all are of XML-DSig. */
function namesOf({children}: XmlElement): string {
  return children.map(({namespace, name}) => (namespace === DSIG ? name : '')).join()
}

function unsigned(detail: string): SignInFault {
  return new SignInFault('document_signature', detail)
}

/** Names the algorithm that came: an administrator looks for it in the settings of his provider. */
function refusedAlgorithm(of: string, ...methods: readonly XmlElement[]): SignInFault {
  const came = methods.slice(0, MOST_NAMED).map(method => printable(attributeOf(method, 'Algorithm') ?? undefined))
  const sentence = `The ${of} of a signature is none of those that are taken`
  return new SignInFault('document_algorithm', `${sentence}: ${came.join(', ') || 'nothing'}.`)
}
