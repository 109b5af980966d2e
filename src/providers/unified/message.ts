import type {Json} from '../translation.ts'
import {callOut, type FunctionCall} from './tools.ts'

/** A piece of a model's answer, in order. */
export type MessagePiece =
  | {readonly type: 'text'; readonly text: string}
  | {readonly type: 'thinking'; readonly thinking: string}

/** An assistant's message: text joined, thinking beside it as `content_blocks` where `strict` is off. */
export function messageOut(
  pieces: readonly MessagePiece[],
  calls: readonly FunctionCall[],
  strict: boolean,
  more: Json = {},
): Json {
  const text = pieces.map(piece => (piece.type === 'text' ? piece.text : '')).join('')
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    refusal: null,
    ...(calls.length > 0 ? {tool_calls: calls.map(callOut)} : {}),
    ...blocksOf(pieces, strict),
    ...more,
  }
}

/** The pieces as `content_blocks`, where there is thinking among them and `strict` is off. */
export function blocksOf(pieces: readonly MessagePiece[], strict: boolean): Json {
  return !strict && pieces.some(({type}) => type === 'thinking') ? {content_blocks: joined(pieces)} : {}
}

/** A choice of a chat completion. */
export function choiceOut(index: number, message: Json, finish_reason: string, logprobs: Json | null = null): Json {
  return {index, message, logprobs, finish_reason}
}

/** Neighbours of one kind as one, as a stream tells them. */
function joined(pieces: readonly MessagePiece[]): readonly MessagePiece[] {
  const blocks: MessagePiece[] = []
  for (const piece of pieces) {
    const last = blocks.at(-1)
    if (last?.type === 'text' && piece.type === 'text')
      blocks[blocks.length - 1] = {type: 'text', text: last.text + piece.text}
    else if (last?.type === 'thinking' && piece.type === 'thinking') {
      blocks[blocks.length - 1] = {type: 'thinking', thinking: last.thinking + piece.thinking}
    } else blocks.push(piece)
  }
  return blocks
}
