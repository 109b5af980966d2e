import {signatureLibrary} from './libraries.ts'
import type {DomNode, XmlElement} from './xml.ts'

const XMLNS = 'http://www.w3.org/2000/xmlns/'

/**
 * The exclusive canonical form of `element` (https://www.w3.org/TR/xml-exc-c14n), without `left_out`, a child of it.
 * Declarations of `prefixes` that are in scope are kept.
 */
export async function canonicalText(
  element: XmlElement,
  prefixes: readonly string[],
  left_out?: XmlElement,
): Promise<string> {
  const {ExclusiveCanonicalization} = await signatureLibrary()
  const {node} = element
  const options = {inclusiveNamespacesPrefixList: [...prefixes], ancestorNamespaces: scopeOf(node)}
  // in place: a copy takes several times as long. Declarations that the library adds are those in scope already
  const next = left_out?.node.nextSibling ?? null
  if (left_out) node.removeChild(left_out.node)
  const text = String(new ExclusiveCanonicalization().process(node as never, options))
  if (left_out) node.insertBefore(left_out.node, next)
  return text
}

/** Prefixes that the elements around `node` declare; an inner declaration hides an outer one. */
function scopeOf(node: DomNode) {
  const scope = new Map<string, string>()
  for (let around = node.parentNode; around?.attributes; around = around.parentNode)
    for (const {namespaceURI, prefix, localName, value} of Array.from(around.attributes))
      if (namespaceURI === XMLNS && prefix && localName && !scope.has(localName)) scope.set(localName, value ?? '')
  const own = new Set(Array.from(node.attributes ?? []).map(({nodeName}) => nodeName))
  return [...scope]
    .filter(([prefix]) => !own.has(`xmlns:${prefix}`))
    .map(([prefix, namespaceURI]) => ({prefix, namespaceURI}))
}
