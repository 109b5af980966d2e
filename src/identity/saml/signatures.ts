import type {KeyObject} from 'node:crypto'
import {SignInFault} from '../sign-in-fault.ts'
import {digestOf, isSignedBy} from './algorithms.ts'
import {canonicalText} from './canonical.ts'
import {RESPONSE_LIMITS} from './markup.ts'
import {DSIG} from './names.ts'
import {readSignedInfo, type SignedInfo, signatureParts} from './signature-shape.ts'
import {attributeOf, elementsIn, isNamed, readXml, type XmlDocument, type XmlElement} from './xml.ts'

/** A signature in its element, with methods that are taken; not verified yet. */
interface Judged {
  readonly parent: XmlElement
  readonly signature: XmlElement
  /** The canonical bytes of SignedInfo, which `info` was read from. */
  readonly signed_text: string
  readonly value: Buffer
  readonly info: SignedInfo
}

/**
 * The elements of `may_be_signed` that a signature covers, each as the signature has it: its canonical bytes, read
 * again. Every signature of the document has to be one of those elements' own, and to hold. Throws a `SignInFault` with
 * `document_signature` or `document_algorithm`.
 */
export async function signedElements(
  document: XmlDocument,
  may_be_signed: readonly XmlElement[],
  keys: readonly KeyObject[],
): Promise<ReadonlyMap<XmlElement, XmlElement>> {
  const placed = signaturesOf(document, may_be_signed)
  // all of them are judged before any is verified
  const judged: Judged[] = []
  for (const [parent, signature] of placed) judged.push(await judgedSignature(parent, signature))
  const signed = new Map<XmlElement, XmlElement>()
  for (const each of judged) signed.set(each.parent, await verifiedElement(each, keys))
  return signed
}

/** The signature of each element that has one. One in another place, or a second one, is refused. */
function signaturesOf({root}: XmlDocument, may_be_signed: readonly XmlElement[]): ReadonlyMap<XmlElement, XmlElement> {
  const placed = new Map<XmlElement, XmlElement>()
  const all = [...elementsIn(root)].filter(element => isNamed(element, DSIG, 'Signature'))
  for (const signature of all) {
    const parent = may_be_signed.find(element => element.children.includes(signature))
    if (!parent) throw unsigned('A signature is not in the Response or in its Assertion.')
    if (placed.has(parent)) throw unsigned('An element has two signatures.')
    placed.set(parent, signature)
  }
  return placed
}

async function judgedSignature(parent: XmlElement, signature: XmlElement): Promise<Judged> {
  const {info, value, prefixes} = signatureParts(signature)
  const signed_text = await canonicalText(info, prefixes)
  const {root} = await readXml(signed_text, RESPONSE_LIMITS)
  return {parent, signature, signed_text, value, info: readSignedInfo(root, parent)}
}

/** The signature before the digest: a stranger's document costs no canonical form of the whole. */
async function verifiedElement(judged: Judged, keys: readonly KeyObject[]): Promise<XmlElement> {
  const {parent, signature, signed_text, value, info} = judged
  if (!isSignedBy(keys, info.signature, signed_text, value))
    throw unsigned('A signature does not hold with any signing key of the metadata.')
  const covered = await canonicalText(parent, info.prefixes, signature)
  if (!digestOf(covered, info.digest).equals(info.digest_value))
    throw unsigned('A signature does not cover what the document says.')
  const {root} = await readXml(covered, RESPONSE_LIMITS)
  const is_same = isNamed(root, parent.namespace, parent.name) && attributeOf(root, 'ID') === attributeOf(parent, 'ID')
  if (!is_same) throw unsigned('A signature covers another element than the one it is in.')
  return root
}

function unsigned(detail: string): SignInFault {
  return new SignInFault('document_signature', detail)
}
