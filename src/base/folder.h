/* folder.h: folders that one process works on at a time, and folders that are whole or not there,
 * as file.h does it for files. */
#ifndef QKS_BASE_FOLDER_H
#define QKS_BASE_FOLDER_H

#include "qkscope/status.h"

/* Lock `folder` (made if need be) for this process by the file .lock in it. It is held until
 * folder_unlock() or until the process ends, however it ends. A failure names the holder. */
QKS_MUST_CHECK qks_status folder_lock(const char *folder, int *lock, qks_error *error);
void folder_unlock(int lock); /* below 0: nothing is held */

/* Put the folder `temporary`, whose files are synced already, at `path`. A folder that is there is
 * swapped out at once, and removed with the files in it. */
QKS_MUST_CHECK qks_status folder_place(const char *temporary, const char *path, qks_error *error);

/* Remove a folder and the files in it, but no folders in it; no complaint if that fails. */
void folder_remove(const char *path);

#endif
