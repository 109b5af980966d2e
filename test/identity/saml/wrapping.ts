import {DOMParser, XMLSerializer} from '@xmldom/xmldom'
import {DSIG, SAML} from './documents.ts'

/** The part of the parser's nodes that wrapping moves. */
export interface Node {
  textContent: string
  firstChild: Node | null
  parentNode: Node | null
  documentElement: Node
  cloneNode(deep: boolean): Node
  appendChild(node: Node): Node
  insertBefore(node: Node, before: Node | null): Node
  removeChild(node: Node): Node
  setAttribute(name: string, value: string): void
  getElementsByTagNameNS(namespace: string, name: string): ArrayLike<Node>
  createElementNS(namespace: string, name: string): Node
}

export function changedBy(change: (root: Node, document: Node) => void): (xml: string) => string {
  return xml => {
    const document = new DOMParser().parseFromString(xml, 'text/xml') as unknown as Node
    change(document.documentElement, document)
    return new XMLSerializer().serializeToString(document as never)
  }
}

export function find(within: Node, name: string, namespace = `${SAML}:assertion`): Node {
  const found = within.getElementsByTagNameNS(namespace, name)[0]
  if (!found) throw new Error(`no ${name}`)
  return found
}

export function signatureIn(within: Node): Node {
  return find(within, 'Signature', DSIG)
}

/** `element` without its signature, detached. */
export function bare(element: Node): Node {
  const copy = element.cloneNode(true)
  const signature = signatureIn(copy)
  signature.parentNode!.removeChild(signature)
  return copy
}

/** The person that forged parts name. */
export const FORGED = 'olga@example.test'

export function forge(element: Node, id: string): Node {
  element.setAttribute('ID', id)
  return forgeText(element)
}

export function forgeText(element: Node): Node {
  find(element, 'NameID').textContent = FORGED
  find(element, 'AttributeValue').textContent = FORGED
  return element
}

function forgeResponse(root: Node): void {
  forge(root, '_evil')
  find(root, 'Assertion').setAttribute('ID', '_evil_assertion')
}

/** The eight variants that testers of SAML number so; the first two want a signed Response, the others an assertion. */
export const WRAPPINGS: Readonly<
  Record<string, {readonly sign: 'response' | 'assertion'; change(root: Node, document: Node): void}>
> = {
  'XSW1, the signed Response inside of its signature': {
    sign: 'response',
    change(root) {
      const copy = bare(root)
      forgeResponse(root)
      signatureIn(root).appendChild(copy)
    },
  },
  'XSW2, the signed Response before its signature': {
    sign: 'response',
    change(root) {
      const copy = bare(root)
      forgeResponse(root)
      root.insertBefore(copy, signatureIn(root))
    },
  },
  'XSW3, a forged assertion before the signed one': {
    sign: 'assertion',
    change(root) {
      const assertion = find(root, 'Assertion')
      root.insertBefore(forge(bare(assertion), '_evil'), assertion)
    },
  },
  'XSW4, the signed assertion inside of a forged one': {
    sign: 'assertion',
    change(root) {
      const assertion = find(root, 'Assertion')
      const evil = forge(bare(assertion), '_evil')
      root.insertBefore(evil, assertion)
      evil.appendChild(assertion)
    },
  },
  'XSW5, a forged assertion with the signature, and the signed one at the end': {
    sign: 'assertion',
    change(root) {
      const assertion = find(root, 'Assertion')
      root.appendChild(bare(assertion))
      forge(assertion, '_evil')
    },
  },
  'XSW6, the signed assertion inside of the signature of a forged one': {
    sign: 'assertion',
    change(root) {
      const assertion = find(root, 'Assertion')
      const copy = bare(assertion)
      forge(assertion, '_evil')
      signatureIn(assertion).appendChild(copy)
    },
  },
  'XSW7, a forged assertion in Extensions': {
    sign: 'assertion',
    change(root, document) {
      const assertion = find(root, 'Assertion')
      const extensions = document.createElementNS(`${SAML}:protocol`, 'samlp:Extensions')
      extensions.appendChild(forge(bare(assertion), '_evil'))
      root.insertBefore(extensions, assertion)
    },
  },
  'XSW8, the signed assertion in an Object of the signature': {
    sign: 'assertion',
    change(root, document) {
      const assertion = find(root, 'Assertion')
      const object = document.createElementNS(DSIG, 'ds:Object')
      object.appendChild(bare(assertion))
      forge(assertion, '_evil')
      signatureIn(assertion).appendChild(object)
    },
  },
}
