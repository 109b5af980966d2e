import {
  AliasNode,
  AndNode,
  BinaryOperationNode,
  ColumnNode,
  DeleteQueryNode,
  InsertQueryNode,
  ListNode,
  MergeQueryNode,
  type OperationNode,
  OperatorNode,
  ParensNode,
  PrimitiveValueListNode,
  RawNode,
  ReferenceNode,
  TableNode,
  UpdateQueryNode,
  ValueListNode,
  ValueNode,
  ValuesNode,
  type WithNode,
} from 'kysely'

/** A table that a statement writes. */
export interface WrittenRows {
  readonly table: string
  /** The column `id` of every row that it may write; null where the statement does not say. */
  readonly ids: readonly string[] | null
}

/**
 * The rows that a statement writes: none when it reads. `update configs set … where id = 'c1'` gives `{table:
 * 'configs', ids: ['c1']}`. Throws when a statement writes and does not name its table: raw SQL, which cannot be
 * inspected.
 */
export function writtenRows(statement: OperationNode & {readonly with?: WithNode}): WrittenRows[] {
  const inside = (statement.with?.expressions ?? []).flatMap(({expression}) => writtenRows(expression))
  if (InsertQueryNode.is(statement)) return [...inside, {table: tableOf(statement.into), ids: idsOfInsert(statement)}]
  if (UpdateQueryNode.is(statement))
    return [...inside, {table: tableOf(statement.table), ids: idsOfWhere(statement.where?.where)}]
  if (DeleteQueryNode.is(statement)) {
    const ids = statement.from.froms.length === 1 ? idsOfWhere(statement.where?.where) : null
    return [...inside, ...statement.from.froms.map(from => ({table: tableOf(from), ids}))]
  }
  if (MergeQueryNode.is(statement)) return [...inside, {table: tableOf(statement.into), ids: null}]
  if (RawNode.is(statement) && !READS.test(statement.sqlFragments.join('?'))) throw new Error(UNNAMED)
  return inside
}

const UNNAMED = 'A statement that writes is made with the query builder, so that its table is known: see INVALIDATES.'
const READS = /^\s*(?:select|values|explain|pragma)\b(?![\s\S]*\b(?:insert|update|delete|merge)\b)/i

function tableOf(node: OperationNode | undefined): string {
  if (node && AliasNode.is(node)) return tableOf(node.node)
  if (node && ListNode.is(node) && node.items.length === 1) return tableOf(node.items[0])
  if (!node || !TableNode.is(node)) throw new Error(UNNAMED)
  const {schema, identifier} = node.table
  return schema ? `${schema.name}.${identifier.name}` : identifier.name
}

/** A row that was there already has another id than the one that was to be inserted. */
function idsOfInsert({columns = [], values, onConflict}: InsertQueryNode): string[] | null {
  const at = columns.findIndex(({column}) => column.name === 'id')
  if (at < 0 || onConflict || !values || !ValuesNode.is(values)) return null
  return textsOf(
    values.values.map(row => (PrimitiveValueListNode.is(row) ? row.values[at] : constantOf(row.values[at]))),
  )
}

/** The ids that `id = …` or `id in (…)` leaves, where that holds for all rows, alone or beside more. */
function idsOfWhere(condition: OperationNode | undefined): string[] | null {
  if (!condition) return null
  if (ParensNode.is(condition)) return idsOfWhere(condition.node)
  if (AndNode.is(condition)) return idsOfWhere(condition.left) ?? idsOfWhere(condition.right)
  if (!BinaryOperationNode.is(condition) || !isId(condition.leftOperand) || !OperatorNode.is(condition.operator))
    return null
  const {operator, rightOperand} = condition
  if (operator.operator === '=') return textsOf([constantOf(rightOperand)])
  if (operator.operator !== 'in') return null
  if (PrimitiveValueListNode.is(rightOperand)) return textsOf(rightOperand.values)
  return ValueListNode.is(rightOperand) ? textsOf(rightOperand.values.map(constantOf)) : null
}

function isId(node: OperationNode): boolean {
  const column = ReferenceNode.is(node) && !node.table ? node.column : node
  return ColumnNode.is(column) && column.column.name === 'id'
}

function constantOf(node: OperationNode | undefined): unknown {
  return node && ValueNode.is(node) ? node.value : undefined
}

function textsOf(values: readonly unknown[]): string[] | null {
  return values.every(value => typeof value === 'string') ? [...values] : null
}
