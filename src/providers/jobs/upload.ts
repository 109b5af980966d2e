import {isObject} from '../../base/json-object.ts'
import type {FormPart} from '../../base/multipart-stream.ts'
import type {OperationInput} from '../operation.ts'
import {type Json, UnsupportedInputFault} from '../translation.ts'
import {headerText} from './form.ts'
import {type BatchRow, batchRowIn, changedRows} from './rows.ts'

/** How the rows of uploaded files are put into a provider's words. */
export interface RowWords {
  batch?(row: BatchRow, input: OperationInput): Json
  /** A row of OpenAI's chat fine-tuning: `messages`, perhaps `tools`. */
  tune?(row: Json, input: OperationInput): Json
}

/** A file that is streamed through. */
export interface Upload {
  readonly file_name: string
  readonly content_type: string
  /** As it is to be stored; read once. */
  readonly content: AsyncIterable<Buffer>
  /** `batch`, `fine-tune` ...: what the form or the headers say, else what the first row is. */
  readonly purpose: string
}

const OF_ROWS: ReadonlySet<string> = new Set(['batch', 'fine-tune'])
const MAX_FIELD_BYTES = 4096
const MAX_BEGINNING_BYTES = 256 << 10
const USUAL_PURPOSE = 'user_data'

/**
 * The uploaded file of a form. Rows are put into the provider's words while they pass, one at a time. Libraries send
 * `purpose` before the file or behind it: where it is not known in time, a name ending in `.jsonl` stands for rows.
 */
export async function openUpload(input: OperationInput, words: RowWords): Promise<Upload> {
  if (!input.form) throw new UnsupportedInputFault('file', 'expected a form (multipart/form-data) with a file')
  const parts = input.form[Symbol.asyncIterator]()
  let purpose = input.file_headers.purpose
  for (;;) {
    const {done, value: part} = await parts.next()
    if (done) throw new UnsupportedInputFault('file', 'the form has no file')
    if (part.file_name === null && part.name === 'purpose') purpose ??= await field(part)
    if (part.file_name !== null && part.name === 'file') return await opened(part, parts, purpose, input, words)
  }
}

async function opened(
  part: FormPart,
  parts: AsyncIterator<FormPart>,
  purpose: string | undefined,
  input: OperationInput,
  words: RowWords,
): Promise<Upload> {
  const file_name = part.file_name || 'file'
  const has_rows = purpose === undefined ? /\.jsonl$/i.test(file_name) : OF_ROWS.has(purpose)
  const form: {purpose: string | undefined; rows?: string} = {purpose}
  const content = followed(has_rows ? rowsOf(part, form, input, words) : part.content, parts, form, has_rows)
  // The kind of the first rows, and the tail of a short file, are known before the file gets a destination.
  const first = await beginning(content)
  if (has_rows && first.length === 0) throw new UnsupportedInputFault('file', 'it is empty')
  return {
    file_name,
    content: chained(first, content),
    purpose: form.purpose ?? form.rows ?? USUAL_PURPOSE,
    content_type: has_rows ? 'application/jsonl' : headerText(part.content_type ?? ''),
  }
}

function rowsOf(part: FormPart, form: {rows?: string}, input: OperationInput, words: RowWords): AsyncIterable<Buffer> {
  return changedRows(part.content, (row, number) => {
    const batch = batchRowIn(row, input)
    if (form.rows === undefined && (batch || Array.isArray(row.messages))) form.rows = batch ? 'batch' : 'fine-tune'
    if (batch) return words.batch ? words.batch(batch, atLine(number, input)) : row
    return Array.isArray(row.messages) && words.tune ? words.tune(row, input) : row
  })
}

/** A report on a row names its line. */
function atLine(number: number, input: OperationInput): OperationInput {
  const {context} = input
  const report = (adaptation: string) => context.report?.(`line ${number}: ${adaptation}`)
  return {...input, context: {...context, report}}
}

/** The content, and at its end what the form says behind it. */
async function* followed(
  content: AsyncIterable<Buffer>,
  parts: AsyncIterator<FormPart>,
  form: {purpose: string | undefined},
  has_rows: boolean,
): AsyncGenerator<Buffer> {
  yield* content
  for (let next = await parts.next(); !next.done; next = await parts.next()) {
    const part = next.value
    if (part.file_name !== null || part.name !== 'purpose' || form.purpose !== undefined) continue
    form.purpose = await field(part)
    if (!has_rows && OF_ROWS.has(form.purpose))
      throw new UnsupportedInputFault(
        'purpose',
        'it stands behind the file in the form: send it before, or as the header file-purpose',
      )
  }
}

async function beginning(content: AsyncGenerator<Buffer>): Promise<readonly Buffer[]> {
  const pieces: Buffer[] = []
  for (let length = 0; length < MAX_BEGINNING_BYTES; ) {
    const {done, value} = await content.next()
    if (done) break
    pieces.push(value)
    length += value.length
  }
  return pieces
}

async function* chained(first: readonly Buffer[], rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield* first
  yield* rest
}

async function field({content, name}: FormPart): Promise<string> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of content) {
    pieces.push(piece)
    length += piece.length
    if (length > MAX_FIELD_BYTES) throw new UnsupportedInputFault(name, `it is longer than ${MAX_FIELD_BYTES} bytes`)
  }
  return Buffer.concat(pieces).toString('utf8')
}

/** A file's name as part of a path: letters, digits and few marks. */
export function plainName(name: string): string {
  const last = name.split(/[/\\]/).at(-1)!.normalize('NFKD')
  const plain = last.replace(/[^\w.-]+/g, '_').replace(/\.{2,}/g, '.')
  return plain.slice(-100) || 'file'
}

/** Reads the messages of a tuning row and checks its members. */
export function messagesOf(row: Json): readonly Json[] {
  const {messages} = row
  if (!Array.isArray(messages) || !messages.every(isObject))
    throw new UnsupportedInputFault('messages', 'expected a list of messages')
  return messages
}
