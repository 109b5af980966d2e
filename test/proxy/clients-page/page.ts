import {readFileSync} from 'node:fs'
import {join} from 'node:path'

/** The address and the key that the snippets have. */
export const ADDRESS = 'http://127.0.0.1:8787'
export const KEY = 'YOUR_KEY'

/** A row of the page's table of clients, cell by cell. */
export interface PageRow {
  readonly client: string
  readonly anchor: string
  readonly base_url: string
  readonly key: string
  readonly path: string
  readonly model: string
}

export interface Snippet {
  readonly language: string
  readonly code: string
  /** The whole section, with its prose. */
  readonly text: string
}

const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/clients.md'), 'utf8')

function part(heading: string): string {
  return PAGE.split(/^## /m).find(text => text.startsWith(`${heading}\n`)) ?? ''
}

function cells(line: string): string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map(cell => cell.trim())
}

function tableOf(text: string): string[][] {
  const lines = text.split('\n').filter(line => line.startsWith('|'))
  return lines.slice(2).map(cells)
}

export const ROWS: readonly PageRow[] = tableOf(part('All clients')).map(([client, base_url, key, path, model]) => {
  const [, name = '', anchor = ''] = /^\[(.+)\]\(#(.+)\)$/.exec(client!) ?? []
  return {client: name, anchor, base_url: plain(base_url!), key: key!, path: plain(path!), model: plain(model!)}
})

/** The snippet of each client, by its heading. */
export const SNIPPETS: ReadonlyMap<string, Snippet> = new Map(
  PAGE.split(/^### /m)
    .slice(1)
    .map(text => {
      const section = text.split(/^## /m)[0]!
      const [, language = '', code = ''] = /^```(\w+)\n([\s\S]*?)^```$/m.exec(section) ?? []
      return [section.split('\n', 1)[0]!, {language, code, text: section}]
    }),
)

/** An engine of the page's commands, with the end of the address that its operator writes. */
export interface PageEngine {
  readonly slug: string
  readonly kind: string
  readonly base_path: string
}

const CREATE = /^gateway providers create (\S+) --kind (\S+) --custom-host http:\/\/[\d.:]+(\S*)$/gm

export const ENGINES: readonly PageEngine[] = [...part('Connect local engines').matchAll(CREATE)].map(
  ([, slug, kind, base_path]) => ({slug: slug!, kind: kind!, base_path: base_path!}),
)

/** The other providers that the snippets call: slug and kind. */
export const PROVIDERS: readonly (readonly [slug: string, kind: string])[] = tableOf(part('Connect local engines')).map(
  ([slug, kind]) => [plain(slug!), plain(kind!)],
)

/** GitHub's anchor of a heading. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\s-]/g, '')
    .replaceAll(' ', '-')
}

function plain(cell: string): string {
  return cell.replaceAll('`', '')
}
