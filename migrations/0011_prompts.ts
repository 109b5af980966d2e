import {randomUUID} from 'node:crypto'
import type {Kysely} from 'kysely'
import {index, type Migration, strict, types} from './support.ts'

/** Prompts and partials with their versions, the collections they lie in, and the labels that versions bear. */
export const prompts: Migration = {
  name: '0011_prompts',
  area: 'control',
  async up(db, kind) {
    const {text, integer} = types(kind)
    await strict(
      kind,
      db.schema
        .createTable('collections')
        .addColumn('id', text, c => c.primaryKey())
        .addColumn('slug', text, c => c.notNull().unique())
        .addColumn('organisation_id', text, c => c.notNull().references('organisations.id'))
        .addColumn('workspace_id', text, c => c.notNull().references('workspaces.id'))
        .addColumn('parent_collection_id', text, c => c.references('collections.id'))
        .addColumn('name', text, c => c.notNull())
        .addColumn('is_default', integer, c => c.notNull())
        .addColumn('status', text, c => c.notNull())
        .addColumn('created_at', text, c => c.notNull())
        .addColumn('last_updated_at', text, c => c.notNull()),
    ).execute()
    await index(db, kind, 'collections', ['workspace_id'], {unique: true, where: 'is_default = 1'})
    await index(db, kind, 'collections', ['workspace_id', 'created_at'])
    await index(db, kind, 'collections', ['parent_collection_id'])
    await strict(
      kind,
      db.schema
        .createTable('labels')
        .addColumn('id', text, c => c.primaryKey())
        .addColumn('organisation_id', text, c => c.references('organisations.id'))
        .addColumn('workspace_id', text, c => c.references('workspaces.id'))
        .addColumn('name', text, c => c.notNull())
        .addColumn('description', text)
        .addColumn('color_code', text)
        .addColumn('status', text, c => c.notNull())
        .addColumn('created_at', text, c => c.notNull())
        .addColumn('last_updated_at', text, c => c.notNull()),
    ).execute()
    await index(db, kind, 'labels', ['workspace_id', 'name'], {unique: true, where: "status = 'active'"})
    for (const table of ['prompts', 'prompt_partials']) {
      await strict(
        kind,
        db.schema
          .createTable(table)
          .addColumn('id', text, c => c.primaryKey())
          .addColumn('slug', text, c => c.notNull().unique())
          .addColumn('organisation_id', text, c => c.notNull().references('organisations.id'))
          .addColumn('workspace_id', text, c => c.notNull().references('workspaces.id'))
          .addColumn('collection_id', text, c => c.notNull().references('collections.id'))
          .addColumn('name', text, c => c.notNull())
          .addColumn('status', text, c => c.notNull())
          .addColumn('latest_version', integer, c => c.notNull())
          .addColumn('default_version', integer, c => c.notNull())
          .addColumn('owner_id', text)
          .addColumn('updated_by', text)
          .addColumn('created_at', text, c => c.notNull())
          .addColumn('last_updated_at', text, c => c.notNull()),
      ).execute()
      await index(db, kind, table, ['workspace_id', 'created_at'])
      await index(db, kind, table, ['collection_id'])
    }
    await versions(db, kind, 'prompt_versions', 'prompt_id', 'prompts.id', 'template')
    await versions(db, kind, 'prompt_partial_versions', 'partial_id', 'prompt_partials.id', 'string')
    await strict(
      kind,
      db.schema
        .createTable('prompt_labels')
        .addColumn('prompt_id', text, c => c.notNull().references('prompts.id'))
        .addColumn('label_id', text, c => c.notNull().references('labels.id'))
        .addColumn('version', integer, c => c.notNull())
        .addColumn('assigned_at', text, c => c.notNull())
        .addPrimaryKeyConstraint('prompt_labels_key', ['prompt_id', 'label_id']),
    ).execute()
    await index(db, kind, 'prompt_labels', ['label_id'])
    await seed(db as Kysely<Seeded>)
  },
}

async function versions(
  db: Kysely<unknown>,
  kind: Parameters<Migration['up']>[1],
  table: string,
  owner: string,
  references: string,
  content: string,
) {
  const {text, integer} = types(kind)
  await strict(
    kind,
    db.schema
      .createTable(table)
      .addColumn('id', text, c => c.primaryKey())
      .addColumn(owner, text, c => c.notNull().references(references))
      .addColumn('version', integer, c => c.notNull())
      .addColumn(content, text, c => c.notNull())
      .addColumn('description', text)
      .addColumn('status', text, c => c.notNull())
      .addColumn('updated_by', text)
      .addColumn('created_at', text, c => c.notNull()),
  ).execute()
  await index(db, kind, table, [owner, 'version'], {unique: true})
}

interface Seeded {
  workspaces: {id: string; organisation_id: string; created_at: string}
  collections: Record<string, unknown>
  labels: Record<string, unknown>
}

const UNIVERSAL = [
  ['00000000-0000-4000-8000-000000000001', 'production', '#1a7f37'],
  ['00000000-0000-4000-8000-000000000002', 'staging', '#bf8700'],
  ['00000000-0000-4000-8000-000000000003', 'development', '#0969da'],
] as const

/** The labels that everyone has, and a default collection for each workspace that is there. */
async function seed(db: Kysely<Seeded>) {
  const at = '2026-01-01T00:00:00.000Z'
  const everyones = {
    organisation_id: null,
    workspace_id: null,
    description: null,
    status: 'active',
    created_at: at,
    last_updated_at: at,
  }
  for (const [id, name, color_code] of UNIVERSAL) {
    await db
      .insertInto('labels')
      .values({...everyones, id, name, color_code})
      .execute()
  }
  for (const {id: workspace_id, organisation_id, created_at} of await db
    .selectFrom('workspaces')
    .selectAll()
    .execute()) {
    const id = randomUUID()
    const place = {id, slug: `default-${id.slice(0, 8)}`, organisation_id, workspace_id, parent_collection_id: null}
    const row = {...place, name: 'Default', is_default: 1, status: 'active', created_at, last_updated_at: created_at}
    await db.insertInto('collections').values(row).execute()
  }
}
