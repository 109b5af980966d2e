import fc from 'fast-check'
import {expect, test} from 'vitest'
import {FormFault, readParts} from '../../src/base/multipart-stream.ts'

const TYPE = 'multipart/form-data; boundary="the boundary"'

async function* cutAt(bytes: Buffer, cuts: readonly number[]): AsyncGenerator<Buffer> {
  const at = [...new Set([0, ...cuts.map(cut => cut % (bytes.length + 1)), bytes.length])].sort(
    (one, other) => one - other,
  )
  for (const [place, end] of at.slice(1).entries()) yield bytes.subarray(at[place], end)
}

async function read(source: AsyncIterable<Buffer>, type = TYPE) {
  const found: {name: string; file_name: string | null; content_type: string | null; content: Buffer}[] = []
  for await (const {content, ...part} of readParts(source, type)) {
    const pieces: Buffer[] = []
    for await (const piece of content) pieces.push(Buffer.from(piece))
    found.push({...part, content: Buffer.concat(pieces)})
  }
  return found
}

interface Part {
  readonly name: string
  readonly file_name: string | null
  readonly content: Uint8Array
}

function formOf(parts: readonly Part[], preamble = ''): Buffer {
  const all = parts.flatMap(({name, file_name, content}) => [
    Buffer.from(
      `--the boundary\r\nContent-Disposition: form-data; name="${name}"${file_name === null ? '' : `; filename="${file_name}"`}\r\n\r\n`,
    ),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ])
  return Buffer.concat([Buffer.from(preamble), ...all, Buffer.from('--the boundary--\r\n')])
}

test('parts are the same however the stream is cut, whatever bytes they hold', async () => {
  const part: fc.Arbitrary<Part> = fc.record({
    name: fc.stringMatching(/^[a-z_]{1,8}$/),
    file_name: fc.option(fc.stringMatching(/^[\w .-]{1,12}$/)),
    content: fc.oneof(
      fc.uint8Array({maxLength: 60}),
      fc.constantFrom('\r\n--the boundar', '--', '\r\n', '\r\n--the\r\n--the b').map(text => Buffer.from(text)),
    ),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(part, {maxLength: 4}),
      fc.array(fc.nat(), {maxLength: 40}),
      fc.boolean(),
      async (parts, cuts, has_preamble) => {
        const found = await read(cutAt(formOf(parts, has_preamble ? 'hello\r\n' : ''), cuts))
        expect(found).toEqual(parts.map(each => ({...each, content: Buffer.from(each.content), content_type: null})))
      },
    ),
  )
})

test('what is left of a part is passed over', async () => {
  const parts = [
    {name: 'file', file_name: 'a', content: Buffer.alloc(1000, 'x')},
    {name: 'purpose', file_name: null, content: Buffer.from('batch')},
  ]
  const names: string[] = []
  for await (const {name, content} of readParts(cutAt(formOf(parts), [50, 200, 700]), TYPE)) {
    names.push(name)
    for await (const _ of content) break
  }
  expect(names).toEqual(['file', 'purpose'])
})

test('names are read as libraries write them', async () => {
  const head = (disposition: string) =>
    Buffer.from(
      `--the boundary\r\ncontent-disposition: ${disposition}\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nx\r\n--the boundary--`,
    )
  const read_one = async (disposition: string) => (await read(cutAt(head(disposition), [])))[0]!
  expect(await read_one('form-data; name="file"; filename="Räume %22a%22.jsonl"')).toMatchObject({
    file_name: 'Räume "a".jsonl',
    content_type: 'text/plain; charset=utf-8',
  })
  expect(await read_one("form-data; name=file; filename*=UTF-8''R%C3%A4ume.jsonl")).toMatchObject({
    name: 'file',
    file_name: 'Räume.jsonl',
  })
  expect(await read_one('form-data; filename="name=\\"x\\".txt"; name="file"')).toMatchObject({
    name: 'file',
    file_name: 'name="x".txt',
  })
})

test.each([
  ['no boundary', 'x', 'multipart/form-data'],
  ['another type', 'x', 'application/json'],
  ['nothing', '', TYPE],
  ['an end before the last boundary', '--the boundary\r\ncontent-disposition: form-data; name="a"\r\n\r\nhalf', TYPE],
  ['a head without an end', `--the boundary\r\n${'x'.repeat(20_000)}`, TYPE],
])('%s is refused', async (_name, text, type) => {
  await expect(read(cutAt(Buffer.from(text), [5]), type)).rejects.toBeInstanceOf(FormFault)
})
