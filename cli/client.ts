import type {z} from 'zod'
import type {SchemasOf} from '../src/admin/operation.ts'
import type {Operations} from '../src/admin/registry.ts'

// Types alone come from the administration: the registry is loaded when a command connects, so that the others start
// without it.

export type OperationId = keyof Operations
type Schemas<Id extends OperationId> = SchemasOf<Operations[Id]>

/** Calls an operation by its id; a refusal is thrown as a fault with the refusal's sentence. */
export type CallOperation = <Id extends OperationId>(
  id: Id,
  ...input: object extends InputOf<Id> ? [input?: InputOf<Id>] : [input: InputOf<Id>]
) => Promise<ReplyOf<Id>>

/** The reply of an operation. */
export type ReplyOf<Id extends OperationId> = z.output<Schemas<Id>['reply']>

/** A row of the list that an operation replies. */
export type RowOf<Id extends OperationId> = RowIn<ReplyOf<Id>>
type RowIn<Reply> = Reply extends {data: readonly (infer Row)[]}
  ? Row
  : Reply extends readonly (infer Row)[]
    ? Row
    : never

/** The nouns that have such an operation: `NounWith<'list'>` is `'api_keys' | 'labels' | ...`. */
export type NounWith<Verb extends string> = {
  [Id in OperationId]: Id extends `${infer Noun}.${Verb}` ? Noun : never
}[OperationId]

/**
 * The input of an operation: its path parameters, its query, its body. A part without required members may be left out.
 */
export type InputOf<Id extends OperationId> = PartOf<'params', Schemas<Id>['params']> &
  PartOf<'query', Schemas<Id>['query']> &
  PartOf<'body', Schemas<Id>['body']>
type PartOf<Name extends string, Schema> = [Schema] extends [z.ZodType] ? Named<Name, z.input<Schema>> : object
type Named<Name extends string, T> = object extends T
  ? {readonly [_ in Name]?: AsTyped<T>}
  : {readonly [_ in Name]: AsTyped<T>}

/** A body of which the compiler can check all. */
export type BodyOf<Id extends OperationId> =
  InputOf<Id> extends {readonly body?: infer Body} ? Exclude<Body, Unchecked | undefined> : never

/** The names of its path parameters. */
export type ParamOf<Id extends OperationId> = Extract<keyof z.input<NonNullable<Schemas<Id>['params']>>, string>

/** The input of a schema, with texts as they were typed: the operation judges which of a few values is valid. */
export type AsTyped<T> = T extends string
  ? string
  : T extends object
    ?
        | Unchecked
        | (T extends readonly (infer Each)[]
            ? readonly AsTyped<Each>[]
            : {readonly [Name in keyof T]: AsTyped<T[Name]>})
    : T

declare const UNCHECKED: unique symbol
/** JSON from a person: the operation judges all of it. */
export interface Unchecked {
  readonly [UNCHECKED]: true
}

/** For what was read from a file: no compiler can know it. */
export function unchecked<T>(json: T): T & Unchecked {
  return json as T & Unchecked
}
