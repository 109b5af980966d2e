import {sql} from 'kysely'
import {index, type Migration, types} from './support.ts'

/** Proofs of domains: by a DNS record, which is looked at again, or by a code that is sent to the domain. */
export const domainProofs: Migration = {
  name: '0032_domain_proofs',
  area: 'control',
  async up(db, kind) {
    const {integer, text} = types(kind)
    for (const [name, type] of [
      ['proof', text],
      ['looked_at', text],
      ['look_due_at', text],
      ['lost_at', text],
      ['mail_code_hash', text],
      ['mail_code_ends_at', text],
      ['mail_tries', integer],
    ] as const)
      await db.schema.alterTable('domains').addColumn(name, type).execute()
    await sql`update domains set proof = case code when 'environment' then 'settings' else 'operator' end
      where status = 'verified'`.execute(db)
    await index(db, kind, 'domains', ['look_due_at'], {where: 'look_due_at is not null'})
  },
}
