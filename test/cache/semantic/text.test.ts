import {expect, test} from 'vitest'
import {semanticText} from '../../../src/cache/semantic/text.ts'
import {aboutTokens, isCut, windowOf} from '../../../src/cache/semantic/tokens.ts'

const user = (content: unknown) => ({role: 'user', content})
const chat = (...messages: unknown[]) => semanticText('chatComplete', {messages})

test('SC10: one user message alone is a text; of a conversation the last one is, the others part', () => {
  expect(chat(user('What is DNS?'))?.text).toBe('What is DNS?')
  const history = [{role: 'system', content: 'Be brief.'}, user('one'), {role: 'assistant', content: 'two'}]
  const found = chat(...history, user('three'))
  expect(found?.text).toBe('three')
  expect((found!.masked as unknown[]).slice(0, 3)).toEqual(history)
  expect(JSON.stringify(found?.masked)).not.toContain('three')
})

test('SC8: five messages have no text that is searched', () => {
  const five = [user('1'), {role: 'assistant', content: '2'}, user('3'), {role: 'assistant', content: '4'}, user('5')]
  expect([chat(...five), chat(...five.slice(1))?.text]).toEqual([null, '5'])
})

test('SC9: system messages alone have none, nor has an empty one', () => {
  expect(chat({role: 'system', content: 'Be brief.'})).toBeNull()
  expect([chat(user('  ')), chat(user([])), semanticText('chatComplete', {})]).toEqual([null, null, null])
})

test('SC11: an image, sound, a file, a tool message or a call of a tool in the history: exact only', () => {
  const text = {type: 'text', text: 'What is this?'}
  for (const part of [
    {type: 'image_url', image_url: {url: 'data:image/png;base64,AA=='}},
    {type: 'input_audio', input_audio: {data: 'AA==', format: 'wav'}},
    {type: 'file', file: {file_id: 'f'}},
    {type: 'tool_result', tool_use_id: 't', content: 'x'},
    {type: 'tool_use', id: 't', name: 'n', input: {}},
    {type: 'document', source: {}},
    null,
  ]) {
    expect(chat(user([text, part])), JSON.stringify(part)).toBeNull()
    expect(chat(user([part]), {role: 'assistant', content: 'a'}, user('and now?')), JSON.stringify(part)).toBeNull()
  }
  expect(chat({role: 'tool', tool_call_id: 't', content: 'x'}, user('and now?'))).toBeNull()
  expect(chat({role: 'assistant', content: '', tool_calls: [{id: 't'}]}, user('and now?'))).toBeNull()
  expect(chat({role: 'assistant', content: 'x', function_call: {name: 'f'}}, user('and now?'))).toBeNull()
  expect(
    semanticText('createModelResponse', {store: false, input: [{type: 'function_call_output'}, user('x')]}),
  ).toBeNull()
})

test('each dialect has its text, and its parts are kept apart from it', () => {
  const parts = [
    {type: 'text', text: 'one', cache_control: {type: 'ephemeral'}},
    {type: 'text', text: 'two'},
  ]
  const found = semanticText('messages', {system: 'Be brief.', messages: [user(parts)]})
  expect(found).toMatchObject({text: 'one\n\ntwo', member: 'messages'})
  expect(found?.masked).toMatchObject([{role: 'user', content: [{cache_control: {type: 'ephemeral'}}, {type: 'text'}]}])
  expect(semanticText('createModelResponse', {store: false, input: 'one'})).toMatchObject({
    text: 'one',
    member: 'input',
  })
  const item = {type: 'message', role: 'user', content: [{type: 'input_text', text: 'one'}]}
  expect(semanticText('createModelResponse', {store: false, input: [item]})).toMatchObject({
    text: 'one',
    member: 'input',
  })
  for (const store of [undefined, true, null])
    expect(semanticText('createModelResponse', {store, input: 'one'})).toBeNull()
  expect(semanticText('complete', {prompt: 'one'})).toMatchObject({text: 'one', member: 'prompt'})
  expect(semanticText('complete', {prompt: 'one', echo: false})?.text).toBe('one')
  expect(semanticText('complete', {prompt: 'one', echo: true})).toBeNull()
  expect([semanticText('complete', {prompt: ['one']}), semanticText('embed', {input: 'one'})]).toEqual([null, null])
})

test('a system prompt parts, unless the settings leave it out; what was stored one way is not found the other', () => {
  const ignoring = (endpoint: 'chatComplete' | 'messages' | 'createModelResponse', body: object) => {
    const {masked, ignored} = semanticText(endpoint, body as Record<string, unknown>, {ignores_system: true})!
    return {masked: JSON.stringify(masked), ignored}
  }
  const [pirate, king, developer] = [
    {role: 'system', content: 'Be a pirate.'},
    {role: 'system', content: 'Be a king.'},
    {role: 'developer', content: 'Be a king.'},
  ]
  const asked = user('What is DNS?')
  expect(chat(pirate, asked)!.masked).not.toEqual(chat(king, asked)!.masked)
  const all = [[pirate], [king], [developer], [pirate, king], []].map(
    system => ignoring('chatComplete', {messages: [...system, asked]}).masked,
  )
  expect(new Set(all).size).toBe(1)
  expect(all[0]).not.toBe(JSON.stringify(chat(asked)!.masked))
  const before = user('Hello')
  expect(ignoring('chatComplete', {messages: [before, pirate, asked]}).masked).not.toBe(all[0])
  expect(ignoring('messages', {system: 'Be a king.', messages: [asked]}).ignored).toEqual(['system'])
  expect(ignoring('createModelResponse', {store: false, instructions: 'Be a king.', input: 'one'}).ignored).toEqual([
    'instructions',
  ])
})

test('SC32: a model has a window, and a count that is too small or a window says that the text was cut', () => {
  expect(
    ['text-embedding-3-small', 'gemini-embedding-001', 'all-MiniLM-L6-v2', 'BAAI/bge-m3', 'unknown'].map(windowOf),
  ).toEqual([8191, 2048, 256, 512, 512])
  const about = aboutTokens('word '.repeat(700))
  expect(about).toBe(875)
  expect([isCut(800, about), isCut(656, about), isCut(512, about), isCut(null, about)]).toEqual([
    false,
    true,
    true,
    false,
  ])
  expect([isCut(510, 520), isCut(512, 520), isCut(511, 520), isCut(2, 100)]).toEqual([true, true, false, false])
  expect(aboutTokens('日本語')).toBe(3)
})
