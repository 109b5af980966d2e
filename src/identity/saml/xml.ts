import {xmlParser} from './libraries.ts'
import {checkMarkup, type MarkupLimits, XmlFault} from './markup.ts'

/** An element of a document that was read strictly: text and child elements are never mixed. */
export interface XmlElement {
  /** Empty: none. */
  readonly namespace: string
  readonly name: string
  /** Of attributes without a namespace. */
  readonly attributes: ReadonlyMap<string, string>
  /** All values of attributes that are called id, in any case and namespace. */
  readonly ids: readonly string[]
  readonly children: readonly XmlElement[]
  /** The whole text of an element without children; empty for others. */
  readonly text: string
  /** The node of the parser, which the libraries want. */
  readonly node: DomNode
}

export interface XmlDocument {
  readonly root: XmlElement
  /** The markup that was parsed, without its declaration. */
  readonly text: string
}

/** The part of the parser's nodes that is used. */
export interface DomNode {
  readonly nodeType: number
  readonly nodeName: string
  readonly namespaceURI?: string | null
  readonly prefix?: string | null
  readonly localName?: string | null
  readonly data?: string
  readonly value?: string
  readonly attributes?: ArrayLike<DomNode>
  readonly firstChild: DomNode | null
  readonly nextSibling: DomNode | null
  readonly parentNode: DomNode | null
  removeChild(node: DomNode): DomNode
  insertBefore(node: DomNode, next: DomNode | null): DomNode
}

const ELEMENT_NODE = 1
const TEXT_NODE = 3
const COMMENT_NODE = 8
const XMLNS = 'http://www.w3.org/2000/xmlns/'
const XHTML = 'http://www.w3.org/1999/xhtml'

/**
 * Reads a document. Throws an `XmlFault` where it is not well-formed, has more than elements, attributes, text and
 * comments, has a comment inside of a value, text beside elements, or one ID twice.
 */
export async function readXml(text: string, limits: MarkupLimits): Promise<XmlDocument> {
  const body = checkMarkup(text, limits)
  const DOMParser = await xmlParser()
  const refuse = () => {
    throw new XmlFault('It is not well-formed.')
  }
  const options = {errorHandler: {warning: refuse, error: refuse, fatalError: refuse}}
  const document = new DOMParser(options).parseFromString(body, 'text/xml') as unknown as {documentElement: DomNode}
  const root = elementOf(document.documentElement)
  checkIds(root)
  return {root, text: body}
}

/** `element` and all elements in it, in the order of the document. */
export function* elementsIn(element: XmlElement): Generator<XmlElement> {
  yield element
  for (const child of element.children) yield* elementsIn(child)
}

export function isNamed(element: XmlElement, namespace: string, name: string): boolean {
  return element.namespace === namespace && element.name === name
}

export function childrenNamed(element: XmlElement, namespace: string, name: string): readonly XmlElement[] {
  return element.children.filter(child => isNamed(child, namespace, name))
}

/** The only child of that name; undefined where there is none, or several. */
export function onlyChild(element: XmlElement, namespace: string, name: string): XmlElement | undefined {
  const found = childrenNamed(element, namespace, name)
  return found.length === 1 ? found[0] : undefined
}

export function attributeOf(element: XmlElement, name: string): string | null {
  return element.attributes.get(name) ?? null
}

function elementOf(node: DomNode): XmlElement {
  const children: XmlElement[] = []
  let text = ''
  let has_comment = false
  for (let child = node.firstChild; child; child = child.nextSibling) {
    if (child.nodeType === ELEMENT_NODE) children.push(elementOf(child))
    else if (child.nodeType === TEXT_NODE) text += child.data ?? ''
    else if (child.nodeType === COMMENT_NODE) has_comment = true
    else throw new XmlFault('It has a node that is neither element, text nor comment.')
  }
  if (children.length > 0 && text.trim() !== '') throw new XmlFault('It has text beside elements.')
  if (children.length === 0 && has_comment) throw new XmlFault('It has a comment inside of a value.')
  if (node.prefix && !node.namespaceURI) throw new XmlFault('It has a prefix without a namespace.')
  if (node.namespaceURI === XHTML) throw new XmlFault('It has an element of HTML.')
  return {
    namespace: node.namespaceURI ?? '',
    name: node.localName ?? '',
    ...attributesOf(node),
    children,
    text: children.length > 0 ? '' : text,
    node,
  }
}

function attributesOf(node: DomNode): Pick<XmlElement, 'attributes' | 'ids'> {
  const attributes = new Map<string, string>()
  const ids: string[] = []
  for (const {prefix, namespaceURI, localName, value} of Array.from(node.attributes ?? [])) {
    if (namespaceURI === XMLNS) continue
    if (prefix && !namespaceURI) throw new XmlFault('It has a prefix without a namespace.')
    if (localName?.toLowerCase() === 'id') ids.push(value ?? '')
    if (!prefix) attributes.set(localName ?? '', value ?? '')
  }
  return {attributes, ids}
}

/** A signature names its element by ID: readers must not find another one, by any spelling of that attribute. */
function checkIds(root: XmlElement): void {
  const seen = new Set<string>()
  for (const {ids} of elementsIn(root)) {
    if (ids.length > 1) throw new XmlFault('It has an element with several IDs.')
    for (const id of ids) {
      if (seen.has(id)) throw new XmlFault('It has one ID twice.')
      seen.add(id)
    }
  }
}
