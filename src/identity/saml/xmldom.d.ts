/**
 * The part of `@xmldom/xmldom` that is used here (tsconfig.json, `paths`). Its own types bring those of browsers, so
 * that names such as `location` would pass anywhere in the code.
 */
interface ParserOptions {
  readonly errorHandler?: {
    readonly warning: (text: string) => void
    readonly error: (text: string) => void
    readonly fatalError: (text: string) => void
  }
}

export class DOMParser {
  constructor(options?: ParserOptions)
  parseFromString(text: string, type: string): unknown
}

export class XMLSerializer {
  serializeToString(node: unknown): string
}

declare const library: {readonly DOMParser: typeof DOMParser; readonly XMLSerializer: typeof XMLSerializer}
export default library
