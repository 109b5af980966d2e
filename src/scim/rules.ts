import {scimSettings} from '../schema/organisation-auth.ts'
import type {Settings} from '../settings/index.ts'
import type {ScimRules} from './services.ts'

/** The rules of an organisation, by its column `auth`, and those of the installation. */
export function rulesOf(
  column: string | null | undefined,
  {scim_membership_user_mode}: Pick<Settings, 'scim_membership_user_mode'>,
): ScimRules {
  return {...scimSettings(column), has_user_mode: scim_membership_user_mode}
}
