import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs'
import {dirname, join} from 'node:path'

/** The request cannot be met. The message is a sentence for the person who asked. */
export class DraftFault extends Error {}

/** Files to be written, and lines to be put into those that are there. Nothing is on the disk before `save`. */
export class Draft {
  readonly #root: string
  readonly #files = new Map<string, {text: string; is_new: boolean}>()

  constructor(root: string) {
    this.#root = root
  }

  /** The changes to write, in the order in which they were added. */
  get changes(): readonly {readonly path: string; readonly is_new: boolean}[] {
    return [...this.#files].map(([path, {is_new}]) => ({path, is_new}))
  }

  has(path: string): boolean {
    return this.#files.has(path) || existsSync(join(this.#root, path))
  }

  read(path: string): string {
    const known = this.#files.get(path)?.text
    if (known !== undefined) return known
    if (!existsSync(join(this.#root, path))) throw new DraftFault(`${path} is missing: bin/new has to be changed.`)
    return readFileSync(join(this.#root, path), 'utf8')
  }

  /** A file that is not there yet. */
  add(path: string, text: string): void {
    if (this.has(path)) throw new DraftFault(`${path} exists already. Nothing was written.`)
    this.#files.set(path, {text, is_new: true})
  }

  addImport(path: string, line: string): void {
    this.insertBefore(path, /^import /m, `${line}\n`)
  }

  /** Puts `text` before the first place that `mark` matches behind the first one of `after`. */
  insertBefore(path: string, mark: RegExp, text: string, after?: RegExp): void {
    const whole = this.read(path)
    const from = after ? placeOf(path, whole, after) : 0
    const at = from + placeOf(path, whole.slice(from), mark)
    this.#edit(path, whole.slice(0, at) + text + whole.slice(at))
  }

  /**
   * Puts `row` among rows in the order of their names: before the first one with a name behind `name`, else before
   * `end`. `start` matches the start of a row and catches its name.
   */
  insertSorted(path: string, start: RegExp, name: string, row: string, end: RegExp): void {
    const whole = this.read(path)
    const next = [...whole.matchAll(start)].find(([, other], at) => at > 0 && other! > name)
    const last = whole.search(end)
    const at = next?.index ?? last
    if (at < 0) throw lost(path, end)
    this.#edit(path, whole.slice(0, at) + row + whole.slice(at))
  }

  replace(path: string, mark: RegExp, by: (...found: string[]) => string): void {
    const whole = this.read(path)
    placeOf(path, whole, mark)
    this.#edit(path, whole.replace(mark, by))
  }

  save(): void {
    for (const [path, {text}] of this.#files) {
      mkdirSync(dirname(join(this.#root, path)), {recursive: true})
      writeFileSync(join(this.#root, path), text)
    }
  }

  #edit(path: string, text: string): void {
    this.#files.set(path, {text, is_new: this.#files.get(path)?.is_new ?? false})
  }
}

/** The index at which the match of `mark` begins. */
function placeOf(path: string, text: string, mark: RegExp): number {
  const at = text.search(mark)
  if (at < 0) throw lost(path, mark)
  return at
}

function lost(path: string, mark: RegExp): DraftFault {
  return new DraftFault(`${path} has no place that matches ${mark}: bin/new has to be changed.`)
}
