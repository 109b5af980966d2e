import type {After} from '../../base/delay.ts'
import {Refusal} from '../../base/errors.ts'
import {type FormToken, formTokens} from '../../base/form-tokens.ts'
import type {PartHead} from '../../base/multipart.ts'
import {FormFault} from '../../base/multipart-stream.ts'
import {inTimeSlices} from '../../guardrails/time-slices.ts'
import type {Call} from '../call/call.ts'
import type {CallGuardrails} from '../call/call-guardrails.ts'
import {readStrings} from '../guardrails/request-strings.ts'
import {RowGate} from './judge-rows.ts'
import {RawLines} from './raw-lines.ts'
import {isRow} from './row.ts'

/**
 * The kind of a part of the form: a field, a file of rows, a file that may be one, or a file that guardrails cannot
 * read.
 */
type PartKind = 'field' | 'rows' | 'unknown' | 'file'

/** The known part of a form before its file comes. */
export interface FormBeginning {
  /** As it came, with the head of the first file. */
  readonly bytes: Buffer
  /** The same as a form of its own. */
  readonly closed: Buffer
  /** Bytes that close it. */
  readonly closing: number
  /** The file, where its rows are judged. */
  readonly parts: ReadonlySet<string>
}

export interface FormGateOptions {
  readonly most_bytes: number
  /** Of the header that says it, where the form does not. */
  readonly purpose: string
  readonly url: string | null
  /** Null where rows may leave as guardrails left them. */
  readonly no_changes: string | null
  /** False where its fields were judged before. */
  readonly judges_fields: boolean
  readonly after: After
}

/** The purpose of files whose rows are requests. */
export const OF_BATCHES = /^batch(?:[-_]api)?$/i
const MAX_PURPOSE_BYTES = 64

/**
 * A form that is uploaded, judged as it passes: its rows one by one, fields behind the file at its end. The boundary
 * that ends it leaves when all else has passed, so that its provider takes no file of which a row is denied.
 */
export class FormGate {
  readonly #tokens: AsyncGenerator<FormToken>
  readonly #content_type: string
  readonly #options: FormGateOptions
  #purpose: string
  /** Of the part that comes now. */
  #kind: PartKind = 'field'
  #name = ''
  #field: Buffer[] = []
  /** Fields behind the file, with their boundaries. */
  #later: Buffer[] = []
  #later_bytes = 0
  #rows: RowGate | null = null
  /** The beginning of a file, read to see what it is. */
  #tried: Buffer[] = []
  /** Read already, and to be given next. */
  #ahead: FormToken | null = null
  /** A file that was not judged has left. */
  #has_unjudged = false
  #is_whole = true
  #has_rows = false
  has_changed = false
  #is_at_file = false
  /** As it is written before each part. */
  #boundary = ''

  constructor(source: AsyncIterable<Uint8Array>, content_type: string, options: FormGateOptions) {
    this.#tokens = formTokens(source, content_type)
    this.#content_type = content_type
    this.#options = options
    this.#purpose = options.purpose
  }

  get is_waiting(): boolean {
    return this.#rows?.is_waiting ?? false
  }

  /** Reads on to the first file, or the end. */
  async begin(): Promise<FormBeginning> {
    const pieces: Buffer[] = []
    let length = 0
    for (;;) {
      const token = await this.#next()
      if (!token) break
      pieces.push(token.bytes)
      length += token.bytes.length
      if (length > this.#options.most_bytes) throw unreadable('its fields are too long')
      if (token.kind === 'content') this.#addToField(token.bytes)
      else this.#endField()
      if (token.kind === 'part') await this.#beginPart(token)
      if (this.#kind !== 'field') break
    }
    const bytes = Buffer.concat(pieces)
    this.#is_at_file = this.#kind !== 'field'
    if (!this.#is_at_file) return {bytes, closed: bytes, closing: 0, parts: new Set()}
    const closing = Buffer.from(`\r\n${this.#boundary}--\r\n`, 'latin1')
    const parts = new Set(this.#kind === 'file' ? [] : [this.#name])
    if (this.#kind === 'file') this.#has_unjudged = true
    return {bytes, closed: Buffer.concat([bytes, closing]), closing: closing.length, parts}
  }

  /** The rest behind the beginning, as far as it has passed. */
  async *rest(call: Call, guarded: CallGuardrails): AsyncGenerator<Buffer> {
    if (this.#is_at_file) {
      if (this.#kind === 'file' && !this.#options.judges_fields) this.#passUnjudged(guarded)
      yield* this.#openFile(guarded)
    }
    for (;;) {
      const coming = this.#next()
      if (this.#rows) yield* this.#rows.before(coming)
      const token = await coming
      if (!token) return
      const {kind, bytes} = token
      if (kind === 'part' || kind === 'last') yield* this.#endPart()
      if (kind === 'part') await this.#beginPart(token)
      if (kind === 'rest') yield bytes
      else if (kind === 'last') {
        const fields = await this.#fieldsLeft(call, guarded)
        guarded.rows_passed = this.#has_rows && this.#is_whole && !this.#has_unjudged
        yield Buffer.concat([...fields, bytes])
      } else if (this.#kind === 'field') {
        if (kind === 'content') this.#addToField(bytes)
        this.#keep(bytes)
      } else if (kind === 'content') yield* this.#fileContent(bytes)
      else {
        if (this.#kind === 'file') this.#passUnjudged(guarded)
        yield Buffer.concat([...(await this.#fieldsLeft(call, guarded)), bytes])
        yield* this.#openFile(guarded)
      }
    }
  }

  async #next(): Promise<FormToken | null> {
    const ahead = this.#ahead
    this.#ahead = null
    if (ahead) return ahead
    try {
      const {done, value} = await this.#tokens.next()
      return done ? null : value
    } catch (fault) {
      throw fault instanceof FormFault ? unreadable(fault.message, fault) : fault
    }
  }

  async #beginPart({head, bytes}: FormToken): Promise<void> {
    this.#name = isCalled(head!, 'purpose') ? 'purpose' : head!.name || 'file'
    this.#kind = this.#kindOf(head!)
    this.#boundary ||= /--[^\r\n]*/.exec(bytes.toString('latin1'))![0].trimEnd()
    this.#field = []
    this.#tried = []
    if (this.#kind === 'unknown') this.#kind = (await this.#beginsWithRow()) ? 'rows' : 'file'
  }

  /** By its first line a file is known. What was read of it leaves behind its head. */
  async #beginsWithRow(): Promise<boolean> {
    const lines = new RawLines(this.#options.most_bytes)
    for (;;) {
      const token = await this.#next()
      const is_over = token?.kind !== 'content'
      const found = (is_over ? lines.end() : lines.push(token.bytes)).find(({kind}) => kind !== 'blank')
      if (is_over) this.#ahead = token
      else this.#tried.push(token.bytes)
      if (found) return found.kind === 'row' && isRow(found.raw.subarray(found.start, found.end))
      if (is_over) return false
    }
  }

  #kindOf(head: PartHead): PartKind {
    const {file_name, is_coded, content_type} = head
    if (file_name === null && !isCalled(head, 'file')) return 'field'
    const charset = /;\s*charset="?([^\s;"]+)/i.exec(content_type ?? '')?.[1]
    if (is_coded || (charset !== undefined && !/^(?:utf-?8|us-ascii|ascii)$/i.test(charset))) return 'file'
    if (this.#purpose === '') return 'unknown'
    return OF_BATCHES.test(this.#purpose) ? 'rows' : 'file'
  }

  #addToField(bytes: Buffer) {
    if (this.#name === 'purpose') this.#field.push(bytes)
  }

  /** A form may say what it is for behind its file, and say it twice. */
  #endField() {
    if (this.#kind !== 'field' || this.#name !== 'purpose') return
    const purpose = Buffer.concat(this.#field).toString('utf8', 0, MAX_PURPOSE_BYTES).trim()
    this.#field = []
    this.#name = ''
    if (!OF_BATCHES.test(this.#purpose)) this.#purpose = purpose
    if (OF_BATCHES.test(purpose) && this.#has_unjudged)
      throw new Refusal('rows.unjudged', {line: 1, reason: 'came before the purpose of the file, and is no request'})
  }

  #keep(bytes: Buffer) {
    this.#later.push(bytes)
    this.#later_bytes += bytes.length
    if (this.#later_bytes > this.#options.most_bytes) throw unreadable('its fields are too long')
  }

  async *#openFile(guarded: CallGuardrails): AsyncGenerator<Buffer> {
    if (this.#kind === 'rows') this.#gate(guarded)
    for (const bytes of this.#tried.splice(0)) yield* this.#fileContent(bytes)
  }

  #gate(guarded: CallGuardrails) {
    const {most_bytes, url, no_changes, after} = this.#options
    this.#has_rows = true
    this.#rows = new RowGate(guarded, {most_bytes, url, no_changes, part: this.#name, after})
  }

  #passUnjudged(guarded: CallGuardrails) {
    this.#has_unjudged = true
    guarded.noteUnread([this.#name])
  }

  async *#fileContent(bytes: Buffer): AsyncGenerator<Buffer> {
    if (this.#rows) yield* this.#rows.push(bytes)
    else yield bytes
  }

  async *#endPart(): AsyncGenerator<Buffer> {
    this.#endField()
    if (this.#rows) {
      yield* this.#rows.end()
      this.#is_whole &&= this.#rows.is_whole
      this.has_changed ||= this.#rows.has_changed
      this.#rows = null
    }
    this.#kind = 'field'
  }

  /** Fields that come behind a file, once they have passed. */
  async #fieldsLeft(call: Call, guarded: CallGuardrails): Promise<readonly Buffer[]> {
    const fields = this.#later
    this.#later = []
    this.#later_bytes = 0
    if (fields.length === 0 || !this.#options.judges_fields) return fields
    const closed = Buffer.concat([...fields, Buffer.from(`\r\n${this.#boundary}--\r\n`, 'latin1')])
    const of = {endpoint: call.endpoint, side: 'input'} as const
    const {view, unread} = await inTimeSlices(readStrings(of, closed, this.#content_type, this.#options.most_bytes))
    if (unread.length > 0) guarded.noteUnread(unread)
    if (!view) return fields
    const outcome = await guarded.judgeRow(view, {endpoint: call.endpoint, model: null})
    guarded.noteRow(outcome.results, NO_LINE)
    if (outcome.is_denied) throw guarded.denied()
    if (outcome.is_transformed)
      throw unreadable('guardrails would change a field behind its file: send the fields first')
    return fields
  }
}

/** By any reader: a head may give two names. */
function isCalled({name, plain_name}: PartHead, wanted: string): boolean {
  return name === wanted || plain_name === wanted
}

/** Of results that are about no row. */
const NO_LINE = 0

function unreadable(reason: string, cause?: Error): Refusal {
  return new Refusal('body.invalid', {issues: `The form cannot be judged: ${reason}.`}, cause ? {cause} : {})
}
