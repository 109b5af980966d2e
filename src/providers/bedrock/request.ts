import {isObject} from '../../base/json-object.ts'
import {type Json, type Translated, type TranslationContext, UnsupportedInputFault} from '../translation.ts'
import {defined} from './ask.ts'
import {contentBlocks, marked, type Naming} from './content.ts'
import {modelPath, vendor} from './model.ts'
import {parameters} from './parameters.ts'
import {toolConfig, toolResult, toolUses} from './tools.ts'

interface Turn {
  readonly role: 'user' | 'assistant'
  readonly content: Json[]
}

/** OpenAI chat as a Converse request. Source: Bedrock API reference, Converse and ConverseStream. */
export function converseRequest(request: Json, context: TranslationContext): Translated {
  const {messages} = request
  if (!Array.isArray(messages)) throw new UnsupportedInputFault('messages', 'expected an array')
  const system: Json[] = []
  const turns: Turn[] = []
  const naming: Naming = {used: new Set()}
  messages.forEach((message: unknown, at) => {
    const field = `messages[${at}]`
    if (!isObject(message)) throw new UnsupportedInputFault(field, 'expected a message with a role')
    if (message.role === 'system' || message.role === 'developer') system.push(...systemBlocks(message, field, naming))
    else add(turns, turnOf(message, field, naming, context))
  })
  turns.forEach(turn => {
    fitFiles(turn, context)
  })
  const has_calls = turns.some(({content}) => content.some(block => 'toolUse' in block || 'toolResult' in block))
  const body = defined({
    messages: turns,
    system: system.length > 0 ? system : undefined,
    toolConfig: toolConfig(request, has_calls),
    ...parameters(request, context),
  })
  return {method: 'POST', path: modelPath(context, context.is_stream ? 'converse-stream' : 'converse'), body}
}

function systemBlocks(message: Json, field: string, naming: Naming): Json[] {
  const blocks = marked(contentBlocks(message.content, `${field}.content`, naming), message)
  if (blocks.every(block => 'text' in block || 'cachePoint' in block)) return blocks
  throw new UnsupportedInputFault(
    `${field}.content`,
    `a message of role ${JSON.stringify(message.role)} holds text alone at Amazon Bedrock`,
  )
}

function turnOf(message: Json, field: string, naming: Naming, context: TranslationContext): Turn {
  switch (message.role) {
    case 'user':
      return {role: 'user', content: userBlocks(message, field, naming)}
    case 'tool':
      return {role: 'user', content: toolResult(message, field, naming)}
    case 'assistant':
      return {role: 'assistant', content: assistantBlocks(message, field, naming, context)}
    default:
      throw new UnsupportedInputFault(`${field}.role`, 'expected "system", "developer", "user", "assistant" or "tool"')
  }
}

/** A user's blank text stays, so that the provider can refuse it. */
function userBlocks(message: Json, field: string, naming: Naming): Json[] {
  const blocks = contentBlocks(message.content, `${field}.content`, naming)
  return marked(blocks.length > 0 ? blocks : [{text: ''}], message)
}

/**
 * The blocks of an earlier answer (`content_blocks`) when the client kept them, for they have its thinking; else its
 * content.
 */
function assistantBlocks(message: Json, field: string, naming: Naming, context: TranslationContext): Json[] {
  const has_blocks = Array.isArray(message.content_blocks) && message.content_blocks.length > 0
  const member = has_blocks ? 'content_blocks' : 'content'
  const blocks = contentBlocks(message[member], `${field}.${member}`, naming)
  // Claude refuses thinking that it did not sign: another provider's, earlier in the conversation.
  const kept = vendor(context.model) === 'anthropic' ? blocks.filter(block => !isUnsigned(block)) : blocks
  return marked([...kept, ...toolUses(message.tool_calls, `${field}.tool_calls`)], message)
}

function isUnsigned({reasoningContent: reasoning}: Json): boolean {
  return isObject(reasoning) && isObject(reasoning.reasoningText) && !reasoning.reasoningText.signature
}

/** Files of one message (Bedrock API reference, Message, content). */
const MAX_IMAGES = 20
const MAX_DOCUMENTS = 5

/** Files are the user's alone, so many of them, and documents have a text beside them. */
function fitFiles({role, content}: Turn, {report}: TranslationContext) {
  const images = content.filter(block => 'image' in block).length
  const documents = content.filter(block => 'document' in block).length
  if (images === 0 && documents === 0) return
  if (role === 'assistant')
    throw new UnsupportedInputFault(
      'messages',
      'Amazon Bedrock takes pictures and documents in messages of the user alone',
    )
  if (images > MAX_IMAGES || documents > MAX_DOCUMENTS) {
    const most = `at most ${MAX_IMAGES} pictures and ${MAX_DOCUMENTS} documents`
    throw new UnsupportedInputFault('messages', `expected ${most} in one message of the user`)
  }
  if (documents === 0 || content.some(block => 'text' in block)) return
  content.push({text: 'See the documents.'})
  report?.('converted messages: a text is beside documents')
}

/** Converse wants turns that alternate: what one side says in several messages is one turn. */
function add(turns: Turn[], turn: Turn): void {
  const last = turns.at(-1)
  if (turn.content.length === 0) return
  if (last?.role === turn.role) last.content.push(...turn.content)
  else turns.push(turn)
}
