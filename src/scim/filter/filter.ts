import type {AttributePath} from '../path.ts'

export const OPERATORS = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const
export type FilterOperator = (typeof OPERATORS)[number]
export type Literal = null | boolean | number | string

/** A filter that was read (RFC 7644 §3.4.2.2). */
export type Filter =
  | {readonly kind: 'compare'; readonly path: AttributePath; readonly operator: FilterOperator; readonly value: Literal}
  | {readonly kind: 'present'; readonly path: AttributePath}
  /** One value of a list meets all of `of`, and its `behind`, where that is there. */
  | {readonly kind: 'element'; readonly path: AttributePath; readonly of: Filter; readonly behind: Filter | null}
  | {readonly kind: 'not'; readonly of: Filter}
  | {readonly kind: 'and' | 'or'; readonly of: readonly Filter[]}
