import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {formParts, withField} from '../../src/base/multipart.ts'

const encode = async (form: FormData) => {
  const response = new Response(form)
  return {type: response.headers.get('content-type')!, body: Buffer.from(await response.arrayBuffer())}
}
const TYPE = 'multipart/form-data; boundary=b'
const partsOf = (text: string, type = TYPE) => formParts(Buffer.from(text), type)

test('finds every part of a form, with its name, its file and its content', async () => {
  const form = new FormData()
  form.append('model', new Blob(['model="x"\r\n\r\nfoo'], {type: 'text/plain'}), 'mödel".bin')
  form.append('file', new Blob([Buffer.from([0, 13, 10, 45, 45, 255])]), 'a.wav')
  form.append('model', '@voices/whisper-1')
  form.append('empty', '')
  const {type, body} = await encode(form)
  const parts = formParts(body, type)!
  expect(parts.map(({name, file_name}) => [name, file_name])).toEqual([
    ['model', 'mödel".bin'],
    ['file', 'a.wav'],
    ['model', null],
    ['empty', null],
  ])
  expect(parts.map(({start, end}) => body.subarray(start, end).toString('latin1'))).toEqual([
    'model="x"\r\n\r\nfoo',
    '\0\r\n--\xff',
    '@voices/whisper-1',
    '',
  ])
  const changed = await new Response(withField(body, parts[2]!, 'whisper-1'), {
    headers: {'content-type': type},
  }).formData()
  expect(changed.getAll('model')[1]).toBe('whisper-1')
})

test('passes over what stands before the first boundary and behind the last', () => {
  const text = 'preamble\r\n--b \t\r\ncontent-disposition: form-data; name=a\r\n\r\n1\r\n--b--\r\nepilogue'
  expect(partsOf(text)).toMatchObject([{name: 'a', file_name: null}])
})

describe('a form that two readers could take for two things is none', () => {
  const field = '--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n'
  test.each([
    ['without its last boundary', field],
    ['a boundary that is the beginning of another word', `${field}--bc\r\n\r\n2\r\n--b--\r\n`],
    [
      'two dispositions',
      '--b\r\ncontent-disposition: form-data; name="a"\r\ncontent-disposition: form-data; name="b"\r\n\r\n1\r\n--b--\r\n',
    ],
    ['a folded head', '--b\r\ncontent-disposition: form-data;\r\n name="a"\r\n\r\n1\r\n--b--\r\n'],
    ['bare line feeds', `${field}--b--`.replaceAll('\r', '')],
  ])('%s', (_, text) => {
    expect(partsOf(text)).toBeNull()
  })

  test('two boundaries, or none', () => {
    expect(partsOf(`${field}--b--`, `${TYPE}; boundary=c`)).toBeNull()
    expect(partsOf(`${field}--b--`, 'multipart/form-data')).toBeNull()
  })
})

test('tells a name that is written twice, and a content with a coding', () => {
  const text =
    '--b\r\ncontent-disposition: form-data; name="model"; name*=utf-8\'\'other\r\ncontent-transfer-encoding: base64\r\n\r\nYQ==\r\n--b--'
  expect(partsOf(text)).toMatchObject([{name: 'other', plain_name: 'model', is_coded: true}])
})

test('never throws on broken forms', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.string(), (bytes, type) => {
      formParts(Buffer.from(bytes), type)
      formParts(Buffer.concat([Buffer.from('--b\r\n'), bytes]), TYPE)
    }),
  )
})
