/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pmix_common.h - constants, keys, types and data helpers shared by all roles.
 *
 * In this order: limits and identifiers, status codes, data types and enumerations, keys of
 * attributes, structures, callbacks, and the functions and macros that build and take apart the
 * structures. Names and numbers are those of the PMIx Standard and of the PMIx 4.2 ABI; a
 * comment "since 5.0", "since 6.1" or "since 7.0" (OpenPMIx's master) marks what later releases
 * added. Whether this library acts on a key or a function is told by docs/support.md.
 *
 * Memory: what crosses the interface comes from malloc and is released with free, and an array
 * is one block, because programs built with older headers expand the release code in themselves.
 * Functions of this header touch no library state: they may be called from any thread, before
 * PMIx_Init and after PMIx_Finalize, on objects that no other thread uses. */
#ifndef PMIX_COMMON_H
#define PMIX_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <pmix_version.h>

/* Marks a function that the library exports. */
#if defined(__GNUC__)
#define PMIX_EXPORT __attribute__((visibility("default")))
#else
#define PMIX_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Limits and identifiers ------------------------------------------------------------------ */

/* Longest namespace and longest key, without the NUL. */
#define PMIX_MAX_NSLEN  255
#define PMIX_MAX_KEYLEN 511

typedef char pmix_nspace_t[PMIX_MAX_NSLEN + 1];
typedef char pmix_key_t[PMIX_MAX_KEYLEN + 1];

/* Ranks. Values from PMIX_RANK_VALID on are no ranks of processes but stand for sets of them. */
typedef uint32_t pmix_rank_t;
#define PMIX_RANK_VALID       (UINT32_MAX - 50)  /* ranks of processes are below */
#define PMIX_RANK_LOCAL_PEERS (UINT32_MAX - 4)   /* the job's processes on this node */
#define PMIX_RANK_INVALID     (UINT32_MAX - 3)   /* none */
#define PMIX_RANK_LOCAL_NODE  (UINT32_MAX - 2)   /* all processes on this node */
#define PMIX_RANK_WILDCARD    (UINT32_MAX - 1)   /* all processes of the job */
#define PMIX_RANK_UNDEF       UINT32_MAX         /* not known; also data of the job itself */

/* An application number that stands for all applications of a job. */
#define PMIX_APP_WILDCARD UINT32_MAX

/* ---- Status codes ---------------------------------------------------------------------------- */

/* Results of functions and codes of events share one numbering: zero is success, everything else
 * is negative. Codes below PMIX_EXTERNAL_ERR_BASE belong to the user. Deprecated codes are in
 * pmix_deprecated.h. */
typedef int pmix_status_t;

/* Results. */
#define PMIX_SUCCESS 0     /* it worked */
#define PMIX_ERROR   (-1)  /* it did not, and nothing more is known */

/* General errors. */
#define PMIX_ERR_EXISTS                         (-11)  /* it is there already */
#define PMIX_ERR_INVALID_CRED                   (-12)  /* credential refused */
#define PMIX_ERR_WOULD_BLOCK                    (-15)  /* not now; try again */
#define PMIX_ERR_UNKNOWN_DATA_TYPE              (-16)  /* no such data type */
#define PMIX_ERR_TYPE_MISMATCH                  (-18)  /* another data type was expected */
#define PMIX_ERR_UNPACK_INADEQUATE_SPACE        (-19)  /* more elements than room */
#define PMIX_ERR_UNPACK_FAILURE                 (-20)  /* cannot be unpacked */
#define PMIX_ERR_PACK_FAILURE                   (-21)  /* cannot be packed */
#define PMIX_ERR_NO_PERMISSIONS                 (-23)  /* not allowed */
#define PMIX_ERR_TIMEOUT                        (-24)  /* took too long */
#define PMIX_ERR_UNREACH                        (-25)  /* no server, or no way to the process */
#define PMIX_ERR_BAD_PARAM                      (-27)  /* an argument makes no sense */
#define PMIX_ERR_RESOURCE_BUSY                  (-28)  /* in use */
#define PMIX_ERR_OUT_OF_RESOURCE                (-29)  /* memory or another resource ran out */
#define PMIX_ERR_INIT                           (-31)  /* the library is not initialised */
#define PMIX_ERR_NOMEM                          (-32)  /* memory ran out */
#define PMIX_ERR_NOT_FOUND                      (-46)  /* no such thing */
#define PMIX_ERR_NOT_SUPPORTED                  (-47)  /* the library or the host cannot do it */
#define PMIX_ERR_COMM_FAILURE                   (-49)  /* communication failed */
#define PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER (-50)  /* nothing left to unpack */
#define PMIX_ERR_CONFLICTING_CLEANUP_DIRECTIVES (-51)
#define PMIX_ERR_PARTIAL_SUCCESS                (-52)  /* some of it worked */
#define PMIX_ERR_DUPLICATE_KEY                  (-53)  /* the key is there already */
#define PMIX_ERR_PARAM_VALUE_NOT_SUPPORTED      (-59)  /* this value is not supported */
#define PMIX_ERR_EMPTY                          (-60)  /* nothing there */
#define PMIX_ERR_LOST_CONNECTION                (-61)  /* the other side is gone */
#define PMIX_ERR_EXISTS_OUTSIDE_SCOPE           (-62)  /* there, but not for the caller */

/* What an asynchronous request answers at once. */
#define PMIX_OPERATION_IN_PROGRESS (-156)  /* the same request is under way */
#define PMIX_OPERATION_SUCCEEDED   (-157)  /* done; no callback will follow */

/* Later errors: events, attributes, output forwarding, conversion of numbers. */
#define PMIX_ERR_EVENT_REGISTRATION       (-144)  /* the handler cannot be placed where it wants */
#define PMIX_ERR_INVALID_OPERATION        (-158)  /* not in this state or role */
#define PMIX_ERR_REPEAT_ATTR_REGISTRATION (-171)
#define PMIX_ERR_IOF_FAILURE              (-172)  /* forwarding of a stream failed */
#define PMIX_ERR_IOF_COMPLETE             (-173)  /* a stream has ended */
#define PMIX_ERR_IOF_XOFF                 (-405)  /* taken, now stop sending; since 7.0 */
#define PMIX_ERR_LOST_PRECISION           (-400)  /* the number lost digits; since 6.1 */
#define PMIX_ERR_CHANGE_SIGN              (-401)  /* the number lost its sign; since 6.1 */

/* Queries, job control and monitoring. */
#define PMIX_QUERY_PARTIAL_SUCCESS     (-104)  /* some keys were answered */
#define PMIX_JCTRL_CHECKPOINT          (-106)  /* checkpoint now */
#define PMIX_JCTRL_CHECKPOINT_COMPLETE (-107)  /* the checkpoint is done */
#define PMIX_JCTRL_PREEMPT_ALERT       (-108)  /* the job will be preempted */
#define PMIX_MONITOR_HEARTBEAT_ALERT   (-109)  /* heartbeats are missing */
#define PMIX_MONITOR_FILE_ALERT        (-110)  /* the file does not change */
#define PMIX_MONITOR_RESUSAGE_UPDATE   (-114)  /* a usage report; since 6.1 */

/* Process sets. */
#define PMIX_PROCESS_SET_DEFINE (-55)  /* a set was made */
#define PMIX_PROCESS_SET_DELETE (-56)  /* a set is gone */

/* Groups. */
#define PMIX_GROUP_INVITED             (-159)  /* an invitation */
#define PMIX_GROUP_LEFT                (-160)  /* a member left */
#define PMIX_GROUP_INVITE_ACCEPTED     (-161)  /* a process accepts */
#define PMIX_GROUP_INVITE_DECLINED     (-162)  /* a process declines */
#define PMIX_GROUP_INVITE_FAILED       (-163)  /* a process cannot be invited */
#define PMIX_GROUP_MEMBERSHIP_UPDATE   (-164)  /* the members have changed */
#define PMIX_GROUP_CONSTRUCT_ABORT     (-165)  /* the leader gave up */
#define PMIX_GROUP_CONSTRUCT_COMPLETE  (-166)  /* the group stands */
#define PMIX_GROUP_LEADER_SELECTED     (-167)  /* a new leader */
#define PMIX_GROUP_LEADER_FAILED       (-168)  /* the leader is gone */
#define PMIX_GROUP_CONTEXT_ID_ASSIGNED (-169)  /* the context number is there */
#define PMIX_GROUP_MEMBER_FAILED       (-170)  /* a member is gone */
#define PMIX_ERR_NOT_A_MEMBER          (-66)   /* of the processes that it names; since 7.0 */

/* Debuggers, launchers and programming models. */
#define PMIX_DEBUGGER_RELEASE        (-3)    /* the debugger lets go */
#define PMIX_READY_FOR_DEBUG         (-58)   /* a process waits for the debugger */
#define PMIX_MODEL_DECLARED          (-147)  /* a programming model was declared */
#define PMIX_MODEL_RESOURCES         (-151)  /* it changed its resources */
#define PMIX_OPENMP_PARALLEL_ENTERED (-152)
#define PMIX_OPENMP_PARALLEL_EXITED  (-153)
#define PMIX_LAUNCHER_READY          (-155)  /* the launcher takes requests */
#define PMIX_LAUNCH_COMPLETE         (-174)  /* the job has started */

/* Fabrics. */
#define PMIX_FABRIC_UPDATE_ENDPOINTS (-113)
#define PMIX_FABRIC_UPDATED          (-175)
#define PMIX_FABRIC_UPDATE_PENDING   (-176)

/* Jobs and sessions: how they start, fail and end. */
#define PMIX_EVENT_JOB_END                  (-145)  /* a job ended */
#define PMIX_ERR_JOB_APP_NOT_EXECUTABLE     (-177)
#define PMIX_ERR_JOB_NO_EXE_SPECIFIED       (-178)
#define PMIX_ERR_JOB_FAILED_TO_MAP          (-179)
#define PMIX_ERR_JOB_CANCELED               (-180)
#define PMIX_ERR_JOB_FAILED_TO_LAUNCH       (-181)
#define PMIX_ERR_JOB_ABORTED                (-182)
#define PMIX_ERR_JOB_KILLED_BY_CMD          (-183)
#define PMIX_ERR_JOB_ABORTED_BY_SIG         (-184)
#define PMIX_ERR_JOB_TERM_WO_SYNC           (-185)
#define PMIX_ERR_JOB_SENSOR_BOUND_EXCEEDED  (-186)
#define PMIX_ERR_JOB_NON_ZERO_TERM          (-187)
#define PMIX_ERR_JOB_ALLOC_FAILED           (-188)
#define PMIX_ERR_JOB_ABORTED_BY_SYS_EVENT   (-189)
#define PMIX_ERR_JOB_EXE_NOT_FOUND          (-190)
#define PMIX_EVENT_JOB_START                (-191)  /* a job started */
#define PMIX_EVENT_SESSION_START            (-192)  /* a session started */
#define PMIX_EVENT_SESSION_END              (-193)  /* a session ended */
#define PMIX_ALLOC_TIMEOUT_WARNING          (-194)  /* an allocation ends soon; since 7.0 */
#define PMIX_DVM_IS_READY                   (-195)  /* the launcher takes jobs; since 7.0 */
#define PMIX_ERR_DVM_MOD                    (-196)  /* it cannot be changed so; since 7.0 */
#define PMIX_ERR_JOB_WDIR_NOT_FOUND         (-233)
#define PMIX_ERR_JOB_INSUFFICIENT_RESOURCES (-234)
#define PMIX_ERR_JOB_SYS_OP_FAILED          (-235)

/* Processes: how they fail and end. The two lowest share their numbers with
 * PMIX_ERR_LOST_PRECISION and PMIX_ERR_CHANGE_SIGN. */
#define PMIX_ERR_PROC_RESTART               (-4)    /* restart the process */
#define PMIX_ERR_PROC_CHECKPOINT            (-5)    /* checkpoint the process */
#define PMIX_ERR_PROC_MIGRATE               (-6)    /* move the process */
#define PMIX_ERR_PROC_REQUESTED_ABORT       (-8)
#define PMIX_PROC_TERMINATED                (-111)
#define PMIX_ERR_PROC_TERM_WO_SYNC          (-200)  /* it exited without PMIx_Finalize */
#define PMIX_EVENT_PROC_TERMINATED          (-201)  /* it ended */
#define PMIX_ERR_PROC_KILLED_BY_CMD         (-400)
#define PMIX_ERR_PROC_FAILED_TO_START       (-401)
#define PMIX_ERR_PROC_ABORTED_BY_SIG        (-402)
#define PMIX_ERR_PROC_SENSOR_BOUND_EXCEEDED (-403)
#define PMIX_ERR_EXIT_NONZERO_TERM          (-404)

/* System events: PMIX_SYSTEM_EVENT tests for the interval between base and other. */
#define PMIX_EVENT_SYS_BASE     (-230)
#define PMIX_EVENT_NODE_DOWN    (-231)  /* a node failed */
#define PMIX_EVENT_NODE_OFFLINE (-232)  /* a node was taken away */
#define PMIX_EVENT_SYS_OTHER    (-330)

/* What an event handler tells about its work. */
#define PMIX_EVENT_NO_ACTION_TAKEN      (-331)  /* none */
#define PMIX_EVENT_PARTIAL_ACTION_TAKEN (-332)  /* some; call the next handler */
#define PMIX_EVENT_ACTION_DEFERRED      (-333)  /* later; call the next handler */
#define PMIX_EVENT_ACTION_COMPLETE      (-334)  /* all; call no other handler */

/* The first number that belongs to the user. */
#define PMIX_EXTERNAL_ERR_BASE (-3000)

/* True when status @a lies in the interval of system events. */
#define PMIX_SYSTEM_EVENT(a) ((a) <= PMIX_EVENT_SYS_BASE && (a) >= PMIX_EVENT_SYS_OTHER)

/* ---- Data types of a value ------------------------------------------------------------------- */

/* Tags of pmix_value_t. Numbers 26, 29 and 44 belonged to types that are gone and stay unused. */
typedef uint16_t pmix_data_type_t;
#define PMIX_UNDEF                  0    /* no value */
#define PMIX_BOOL                   1
#define PMIX_BYTE                   2
#define PMIX_STRING                 3    /* char * */
#define PMIX_SIZE                   4
#define PMIX_PID                    5
#define PMIX_INT                    6
#define PMIX_INT8                   7
#define PMIX_INT16                  8
#define PMIX_INT32                  9
#define PMIX_INT64                  10
#define PMIX_UINT                   11
#define PMIX_UINT8                  12
#define PMIX_UINT16                 13
#define PMIX_UINT32                 14
#define PMIX_UINT64                 15
#define PMIX_FLOAT                  16
#define PMIX_DOUBLE                 17
#define PMIX_TIMEVAL                18
#define PMIX_TIME                   19
#define PMIX_STATUS                 20
#define PMIX_VALUE                  21
/* pmix_proc_t *, as are all structures but byte objects and variables */
#define PMIX_PROC                   22 
#define PMIX_APP                    23
#define PMIX_INFO                   24
#define PMIX_PDATA                  25
#define PMIX_BYTE_OBJECT            27   /* pmix_byte_object_t */
#define PMIX_KVAL                   28
#define PMIX_PERSIST                30
#define PMIX_POINTER                31   /* void *, borrowed */
#define PMIX_SCOPE                  32
#define PMIX_DATA_RANGE             33
#define PMIX_COMMAND                34
#define PMIX_INFO_DIRECTIVES        35
#define PMIX_DATA_TYPE              36
#define PMIX_PROC_STATE             37
#define PMIX_PROC_INFO              38
#define PMIX_DATA_ARRAY             39
#define PMIX_PROC_RANK              40
#define PMIX_QUERY                  41
#define PMIX_COMPRESSED_STRING      42
#define PMIX_ALLOC_DIRECTIVE        43
#define PMIX_IOF_CHANNEL            45
#define PMIX_ENVAR                  46
#define PMIX_COORD                  47
#define PMIX_REGATTR                48
#define PMIX_REGEX                  49   /* a string in a byte object */
#define PMIX_JOB_STATE              50
#define PMIX_LINK_STATE             51
#define PMIX_PROC_CPUSET            52
#define PMIX_GEOMETRY               53
#define PMIX_DEVICE_DIST            54
#define PMIX_ENDPOINT               55
#define PMIX_TOPO                   56
#define PMIX_DEVTYPE                57
#define PMIX_LOCTYPE                58
#define PMIX_COMPRESSED_BYTE_OBJECT 59
#define PMIX_PROC_NSPACE            60   /* pmix_nspace_t * */
#define PMIX_PROC_STATS             61
#define PMIX_DISK_STATS             62
#define PMIX_NET_STATS              63
#define PMIX_NODE_STATS             64
#define PMIX_DATA_BUFFER            65
#define PMIX_STOR_MEDIUM            66
#define PMIX_STOR_ACCESS            67
#define PMIX_STOR_PERSIST           68
#define PMIX_STOR_ACCESS_TYPE       69
#define PMIX_DEVICE                 70   /* since 6.1 */
#define PMIX_RESBLOCK_DIRECTIVE     71   /* since 6.1 */
#define PMIX_RESOURCE_UNIT          72   /* since 6.1 */
#define PMIX_NODE_PID               73   /* since 6.1 */
#define PMIX_REGEX2                 74   /* since 7.0 */
#define PMIX_ALLOC_INHERIT          75   /* since 7.0 */
#define PMIX_DATA_TYPE_MAX          500  /* types of the user are above */

/* ---- Enumerations ---------------------------------------------------------------------------- */

/* Who may read what PMIx_Put stores. */
typedef uint8_t pmix_scope_t;
#define PMIX_SCOPE_UNDEF 0
#define PMIX_LOCAL       1  /* processes of the same node */
#define PMIX_REMOTE      2  /* processes of other nodes */
#define PMIX_GLOBAL      3  /* both */
#define PMIX_INTERNAL    4  /* the process itself */
#define PMIX_DEL_LOCAL    5  /* a put with one of these takes the key away from them; since 7.0 */
#define PMIX_DEL_REMOTE   6  /* since 7.0 */
#define PMIX_DEL_GLOBAL   7  /* since 7.0 */
#define PMIX_DEL_INTERNAL 8  /* since 7.0 */

/* Who may look up what is published, and who hears an event. */
typedef uint8_t pmix_data_range_t;
#define PMIX_RANGE_UNDEF      0
#define PMIX_RANGE_RM         1    /* the resource manager */
#define PMIX_RANGE_LOCAL      2    /* the node */
#define PMIX_RANGE_NAMESPACE  3    /* the namespace */
#define PMIX_RANGE_SESSION    4    /* the session */
#define PMIX_RANGE_GLOBAL     5    /* everybody */
#define PMIX_RANGE_CUSTOM     6    /* those that a directive names */
#define PMIX_RANGE_PROC_LOCAL 7    /* the process itself */
#define PMIX_RANGE_INVALID    255

/* How long published data live. */
typedef uint8_t pmix_persistence_t;
#define PMIX_PERSIST_INDEF      0    /* until it is unpublished */
#define PMIX_PERSIST_FIRST_READ 1    /* until it is looked up */
#define PMIX_PERSIST_PROC       2    /* as long as the publisher */
#define PMIX_PERSIST_APP        3    /* as long as its application */
#define PMIX_PERSIST_SESSION    4    /* as long as the session */
#define PMIX_PERSIST_INVALID    255

/* Flags of a pmix_info_t; the upper half is reserved for the library. */
typedef uint32_t pmix_info_directives_t;
#define PMIX_INFO_REQD           0x00000001U  /* fail when it cannot be honoured */
#define PMIX_INFO_ARRAY_END      0x00000002U  /* last of its array */
#define PMIX_INFO_REQD_PROCESSED 0x00000004U  /* has been honoured */
#define PMIX_INFO_QUALIFIER      0x00000008U  /* qualifies the element before it */
#define PMIX_INFO_PERSISTENT     0x00000010U  /* does not own its value */
#define PMIX_INFO_DIR_RESERVED   0xffff0000U

/* States of a process. Up to UNTERMINATED it lives, from TERMINATED on it does not, and from
 * ERROR on it ended badly. */
typedef uint8_t pmix_proc_state_t;
#define PMIX_PROC_STATE_UNDEF                 0
#define PMIX_PROC_STATE_PREPPED               1   /* ready to start */
#define PMIX_PROC_STATE_LAUNCH_UNDERWAY       2
#define PMIX_PROC_STATE_RESTART               3
#define PMIX_PROC_STATE_TERMINATE             4
#define PMIX_PROC_STATE_RUNNING               5
#define PMIX_PROC_STATE_CONNECTED             6   /* has called PMIx_Init */
#define PMIX_PROC_STATE_UNTERMINATED          15  /* states up to this one are alive */
#define PMIX_PROC_STATE_TERMINATED            20  /* ended well; it and all above have ended */
#define PMIX_PROC_STATE_ERROR                 50  /* ended badly; it and all above */
#define PMIX_PROC_STATE_KILLED_BY_CMD         51
#define PMIX_PROC_STATE_ABORTED               52
#define PMIX_PROC_STATE_FAILED_TO_START       53
#define PMIX_PROC_STATE_ABORTED_BY_SIG        54
#define PMIX_PROC_STATE_TERM_WO_SYNC          55  /* exited without PMIx_Finalize */
#define PMIX_PROC_STATE_COMM_FAILED           56
#define PMIX_PROC_STATE_SENSOR_BOUND_EXCEEDED 57
#define PMIX_PROC_STATE_CALLED_ABORT          58
#define PMIX_PROC_STATE_HEARTBEAT_FAILED      59
#define PMIX_PROC_STATE_MIGRATING             60
#define PMIX_PROC_STATE_CANNOT_RESTART        61
#define PMIX_PROC_STATE_TERM_NON_ZERO         62
#define PMIX_PROC_STATE_FAILED_TO_LAUNCH      63

/* States of a job, ordered as those of a process. */
typedef uint8_t pmix_job_state_t;
#define PMIX_JOB_STATE_UNDEF                 0
#define PMIX_JOB_STATE_AWAITING_ALLOC        1
#define PMIX_JOB_STATE_LAUNCH_UNDERWAY       2
#define PMIX_JOB_STATE_RUNNING               3
#define PMIX_JOB_STATE_SUSPENDED             4
#define PMIX_JOB_STATE_CONNECTED             5
#define PMIX_JOB_STATE_UNTERMINATED          15  /* states up to this one are alive */
#define PMIX_JOB_STATE_TERMINATED            20  /* it and all above have ended */
#define PMIX_JOB_STATE_TERMINATED_WITH_ERROR 50

/* What PMIx_Allocation_request is to do; values from EXTERNAL on belong to the host. */
typedef uint8_t pmix_alloc_directive_t;
#define PMIX_ALLOC_NEW        1    /* a new allocation */
#define PMIX_ALLOC_EXTEND     2    /* more of the same */
#define PMIX_ALLOC_RELEASE    3    /* give some back */
#define PMIX_ALLOC_REAQUIRE   4    /* take back what was lent */
#define PMIX_ALLOC_REQ_CANCEL 5    /* forget a request; since 5.0 */
#define PMIX_ALLOC_EXTERNAL   128

/* Who gets an allocation when its namespace ends (since 7.0). */
typedef uint8_t pmix_alloc_inheritance_t;
#define PMIX_ALLOC_INHERIT_NONE          1  /* nobody: it is released; since 7.0 */
#define PMIX_ALLOC_INHERIT_CHILD         2  /* spawned namespaces; since 7.0 */
#define PMIX_ALLOC_INHERIT_DEFAULT       3  /* the session; since 7.0 */
#define PMIX_ALLOC_INHERIT_CHILD_DEFAULT 4  /* spawned namespaces, then the session; since 7.0 */

/* What PMIx_Resource_block is to do (since 6.1). */
typedef uint8_t pmix_resource_block_directive_t;
#define PMIX_RESOURCE_BLOCK_DEFINE   1    /* since 6.1 */
#define PMIX_RESOURCE_BLOCK_EXTEND   2    /* since 6.1 */
#define PMIX_RESOURCE_BLOCK_REMOVE   3    /* since 6.1 */
#define PMIX_RESOURCE_BLOCK_DELETE   4    /* since 6.1 */
#define PMIX_RESOURCE_BLOCK_EXTERNAL 128  /* since 6.1 */

/* Standard streams, as a set of bits. */
typedef uint16_t pmix_iof_channel_t;
#define PMIX_FWD_NO_CHANNELS     0
#define PMIX_FWD_STDIN_CHANNEL   0x0001
#define PMIX_FWD_STDOUT_CHANNEL  0x0002
#define PMIX_FWD_STDERR_CHANNEL  0x0004
#define PMIX_FWD_STDDIAG_CHANNEL 0x0008
#define PMIX_FWD_ALL_CHANNELS    0x00ff

/* What a storage system keeps data on, as a set of bits. */
typedef uint64_t pmix_storage_medium_t;
#define PMIX_STORAGE_MEDIUM_UNKNOWN UINT64_C(0x1)
#define PMIX_STORAGE_MEDIUM_TAPE    UINT64_C(0x2)
#define PMIX_STORAGE_MEDIUM_HDD     UINT64_C(0x4)
#define PMIX_STORAGE_MEDIUM_SSD     UINT64_C(0x8)
#define PMIX_STORAGE_MEDIUM_NVME    UINT64_C(0x10)
#define PMIX_STORAGE_MEDIUM_PMEM    UINT64_C(0x20)
#define PMIX_STORAGE_MEDIUM_RAM     UINT64_C(0x40)

/* From where a storage system can be reached, as a set of bits. */
typedef uint64_t pmix_storage_accessibility_t;
#define PMIX_STORAGE_ACCESSIBILITY_NODE    UINT64_C(0x1)
#define PMIX_STORAGE_ACCESSIBILITY_SESSION UINT64_C(0x2)
#define PMIX_STORAGE_ACCESSIBILITY_JOB     UINT64_C(0x4)
#define PMIX_STORAGE_ACCESSIBILITY_RACK    UINT64_C(0x8)
#define PMIX_STORAGE_ACCESSIBILITY_CLUSTER UINT64_C(0x10)
#define PMIX_STORAGE_ACCESSIBILITY_REMOTE  UINT64_C(0x20)

/* How long a storage system keeps data, as a set of bits. */
typedef uint64_t pmix_storage_persistence_t;
#define PMIX_STORAGE_PERSISTENCE_TEMPORARY UINT64_C(0x1)
#define PMIX_STORAGE_PERSISTENCE_NODE      UINT64_C(0x2)
#define PMIX_STORAGE_PERSISTENCE_SESSION   UINT64_C(0x4)
#define PMIX_STORAGE_PERSISTENCE_JOB       UINT64_C(0x8)
#define PMIX_STORAGE_PERSISTENCE_SCRATCH   UINT64_C(0x10)
#define PMIX_STORAGE_PERSISTENCE_PROJECT   UINT64_C(0x20)
#define PMIX_STORAGE_PERSISTENCE_ARCHIVE   UINT64_C(0x40)

/* Kinds of access to a storage system. */
typedef uint16_t pmix_storage_access_type_t;
#define PMIX_STORAGE_ACCESS_RD   0x0001
#define PMIX_STORAGE_ACCESS_WR   0x0002
#define PMIX_STORAGE_ACCESS_RDWR 0x0003

/* Which view of a fabric a coordinate belongs to. */
typedef uint8_t pmix_coord_view_t;
#define PMIX_COORD_VIEW_UNDEF    0
#define PMIX_COORD_LOGICAL_VIEW  1  /* as the fabric is numbered */
#define PMIX_COORD_PHYSICAL_VIEW 2  /* as it is built */

/* State of a fabric link. */
typedef uint8_t pmix_link_state_t;
#define PMIX_LINK_STATE_UNKNOWN 0  /* not known */
#define PMIX_LINK_DOWN          1
#define PMIX_LINK_UP            2

/* Whose binding PMIx_Get_cpuset asks for. */
typedef uint8_t pmix_bind_envelope_t;
#define PMIX_CPUBIND_PROCESS 0  /* the process's */
#define PMIX_CPUBIND_THREAD  1  /* the calling thread's */

/* What two processes share, as a set of bits. */
typedef uint16_t pmix_locality_t;
#define PMIX_LOCALITY_UNKNOWN        0
#define PMIX_LOCALITY_SHARE_HWTHREAD 0x0001
#define PMIX_LOCALITY_SHARE_CORE     0x0002
#define PMIX_LOCALITY_SHARE_L1CACHE  0x0004
#define PMIX_LOCALITY_SHARE_L2CACHE  0x0008
#define PMIX_LOCALITY_SHARE_L3CACHE  0x0010
#define PMIX_LOCALITY_SHARE_PACKAGE  0x0020
#define PMIX_LOCALITY_SHARE_NUMA     0x0040
#define PMIX_LOCALITY_SHARE_NODE     0x4000
#define PMIX_LOCALITY_NONLOCAL       0x8000  /* they are on different nodes */

/* Types of devices, as a set of bits. */
typedef uint64_t pmix_device_type_t;
#define PMIX_DEVTYPE_UNKNOWN     0
#define PMIX_DEVTYPE_BLOCK       UINT64_C(0x1)
#define PMIX_DEVTYPE_GPU         UINT64_C(0x2)
#define PMIX_DEVTYPE_NETWORK     UINT64_C(0x4)
#define PMIX_DEVTYPE_OPENFABRICS UINT64_C(0x8)
#define PMIX_DEVTYPE_DMA         UINT64_C(0x10)
#define PMIX_DEVTYPE_COPROC      UINT64_C(0x20)
#define PMIX_DEVTYPE_MEMORY      UINT64_C(0x40)   /* since 6.1 */
#define PMIX_DEVTYPE_CORE        UINT64_C(0x80)   /* since 6.1 */
#define PMIX_DEVTYPE_HWT         UINT64_C(0x100)  /* since 6.1 */
#define PMIX_DEVTYPE_CPU         UINT64_C(0x200)  /* since 6.1 */
#define PMIX_DEVTYPE_NODE        UINT64_C(0x400)  /* since 6.1 */

/* Result of PMIx_Value_compare. */
typedef enum {
    PMIX_EQUAL = 0,                      /* equal */
    PMIX_VALUE1_GREATER = 1,             /* the first is greater */
    PMIX_VALUE2_GREATER = 2,             /* the second is greater */
    PMIX_VALUE_TYPE_DIFFERENT = 3,       /* they differ in type */
    PMIX_VALUE_INCOMPATIBLE_OBJECTS = 4, /* they cannot be compared */
    PMIX_VALUE_COMPARISON_NOT_AVAIL = 5  /* their type cannot be compared */
} pmix_value_cmp_t;

/* How a value reads as a truth value. Mind that true is zero. */
typedef enum {
    PMIX_BOOL_TRUE = 0,
    PMIX_BOOL_FALSE = 1,
    PMIX_NON_BOOL = 2    /* no truth value */
} pmix_boolean_t;

/* Answer to a group invitation. */
typedef enum {
    PMIX_GROUP_DECLINE = 0, /* no */
    PMIX_GROUP_ACCEPT = 1   /* yes */
} pmix_group_opt_t;

/* What the group upcall is to do. */
typedef enum {
    PMIX_GROUP_CONSTRUCT = 0,
    PMIX_GROUP_DESTRUCT = 1,
    PMIX_GROUP_NONE = 2,      /* since 5.0 */
    PMIX_GROUP_CANCEL = 3     /* since 7.0 */
} pmix_group_operation_t;

/* What the fabric upcall is to do. */
typedef enum {
    PMIX_FABRIC_REQUEST_INFO = 0, /* describe the fabric */
    PMIX_FABRIC_UPDATE_INFO = 1   /* describe what has changed */
} pmix_fabric_operation_t;

/* ---- Keys of attributes ---------------------------------------------------------------------- */

/* A key beginning with "pmix" is reserved. The comment at each key gives the C type of its
 * value; "pmix_data_array_t*" means data type PMIX_DATA_ARRAY, "varies" that the text of the
 * Standard admits several. Deprecated keys are in pmix_deprecated.h. */

/* The key that means nothing. */

/* no value: stands where no key is meant */
#define PMIX_ATTR_UNDEF "pmix.undef"

/* Initialisation of any role. */

/* char*: processors to bind the progress thread to */
#define PMIX_BIND_PROGRESS_THREAD "pmix.bind.pt"
/* bool: fail when that binding is impossible */
#define PMIX_BIND_REQUIRED "pmix.bind.reqd"
/* void*: event base for secondary work (since 4.2.9) */
#define PMIX_EXTERNAL_AUX_EVENT_BASE "pmix.evaux"
/* bool: finish queued work before stopping the thread (since 6.1) */
#define PMIX_PROGRESS_THREAD_FLUSH "pmix.evflush"
/* char*: which progress thread; repeats the string of PMIX_EVENT_HDLR_NAME (since 6.1) */
#define PMIX_PROGRESS_THREAD_NAME "pmix.evname"

/* Transports. */

/* char*: where to write the server's address: "-", "+" or a file */
#define PMIX_TCP_REPORT_URI "pmix.tcp.repuri"
/* char*: address of the server to connect to */
#define PMIX_TCP_URI "pmix.tcp.uri"
/* char*: interfaces to use, comma-separated */
#define PMIX_TCP_IF_INCLUDE "pmix.tcp.ifinclude"
/* char*: interfaces not to use, comma-separated */
#define PMIX_TCP_IF_EXCLUDE "pmix.tcp.ifexclude"
/* int: port for IPv4 */
#define PMIX_TCP_IPV4_PORT "pmix.tcp.ipv4"
/* int: port for IPv6 */
#define PMIX_TCP_IPV6_PORT "pmix.tcp.ipv6"
/* bool: do not use IPv4 */
#define PMIX_TCP_DISABLE_IPV4 "pmix.tcp.disipv4"
/* bool: do not use IPv6 */
#define PMIX_TCP_DISABLE_IPV6 "pmix.tcp.disipv6"

/* Programming models. */

/* char*: name of the model, such as "MPI" or "OpenMP" */
#define PMIX_PROGRAMMING_MODEL "pmix.pgm.model"
/* char*: implementation of the model */
#define PMIX_MODEL_LIBRARY_NAME "pmix.mdl.name"
/* char*: version of that implementation */
#define PMIX_MODEL_LIBRARY_VERSION "pmix.mld.vrs"
/* char*: threads the model uses, such as "pthread" */
#define PMIX_THREADING_MODEL "pmix.threads"
/* uint64_t: threads in use */
#define PMIX_MODEL_NUM_THREADS "pmix.mdl.nthrds"
/* uint64_t: processors in use */
#define PMIX_MODEL_NUM_CPUS "pmix.mdl.ncpu"
/* char*: granularity of those: "hwthread", "core" ... */
#define PMIX_MODEL_CPU_TYPE "pmix.mdl.cputype"
/* char*: name of the phase the model enters */
#define PMIX_MODEL_PHASE_NAME "pmix.mdl.phase"
/* char*: kind of that phase */
#define PMIX_MODEL_PHASE_TYPE "pmix.mdl.ptype"
/* char*: thread affinity policy in force */
#define PMIX_MODEL_AFFINITY_POLICY "pmix.mdl.tap"

/* PMIx_server_init. */

/* bool: accept tools */
#define PMIX_SERVER_TOOL_SUPPORT "pmix.srvr.tool"
/* bool: accept tools from other nodes */
#define PMIX_SERVER_REMOTE_CONNECTIONS "pmix.srvr.remote"
/* bool: be the node's system server */
#define PMIX_SERVER_SYSTEM_SUPPORT "pmix.srvr.sys"
/* bool: be the session's server */
#define PMIX_SERVER_SESSION_SUPPORT "pmix.srvr.sess"
/* char*: directory for the server's files */
#define PMIX_SERVER_TMPDIR "pmix.srvr.tmpdir"
/* char*: directory for what system-wide clients look up */
#define PMIX_SYSTEM_TMPDIR "pmix.sys.tmpdir"
/* bool: share the hardware topology with clients */
#define PMIX_SERVER_SHARE_TOPOLOGY "pmix.srvr.share"
/* bool: let the server monitor its clients */
#define PMIX_SERVER_ENABLE_MONITORING "pmix.srv.monitor"
/* char*: namespace of the server itself */
#define PMIX_SERVER_NSPACE "pmix.srv.nspace"
/* pmix_rank_t: rank of the server itself */
#define PMIX_SERVER_RANK "pmix.srv.rank"
/* bool: be the gateway to the system's services */
#define PMIX_SERVER_GATEWAY "pmix.srv.gway"
/* bool: be the scheduler's server */
#define PMIX_SERVER_SCHEDULER "pmix.srv.sched"
/* char*: when the server started */
#define PMIX_SERVER_START_TIME "pmix.srv.strtime"
/* bool: all nodes have the same data layout */
#define PMIX_HOMOGENEOUS_SYSTEM "pmix.homo"
/* char*: the one client that starts this server, as NAMESPACE.RANK */
#define PMIX_SINGLETON "pmix.singleton"
/* bool: no progress thread: the host calls PMIx_Progress */
#define PMIX_EXTERNAL_PROGRESS "pmix.evext"
/* pmix_topology_t*: as PMIX_TOPOLOGY, with its source */
#define PMIX_TOPOLOGY2 "pmix.topo2"
/* bool: accept tools of other users (since 5.0) */
#define PMIX_SERVER_ALLOW_FOREIGN_TOOLS "pmix.srvr.ftools"
/* bool: be the system controller's server (since 5.0) */
#define PMIX_SERVER_SYS_CONTROLLER "pmix.srv.ctrlr"
/* bool: several processes may connect as one client (since 6.1) */
#define PMIX_ALLOW_CLIENT_CLONES "pmix.allow.clones"

/* PMIx_tool_init. */

/* char*: namespace of the tool */
#define PMIX_TOOL_NSPACE "pmix.tool.nspace"
/* uint32_t: rank of the tool */
#define PMIX_TOOL_RANK "pmix.tool.rank"
/* bool: the tool is a launcher */
#define PMIX_LAUNCHER "pmix.tool.launcher"

/* How a tool finds its server. */

/* bool: connect to the node's system server only */
#define PMIX_CONNECT_TO_SYSTEM "pmix.cnct.sys"
/* bool: try the system server first */
#define PMIX_CONNECT_SYSTEM_FIRST "pmix.cnct.sys.first"
/* bool: connect to the scheduler's server (since 4.2.9) */
#define PMIX_CONNECT_TO_SCHEDULER "pmix.cnct.sched"
/* bool: connect to the system controller's server (since 5.0) */
#define PMIX_CONNECT_TO_SYS_CONTROLLER "pmix.cnct.ctrlr"
/* char*: kinds of servers to try, comma-separated (since 5.0) */
#define PMIX_CONNECTION_ORDER "pmix.cnct.ord"
/* char*: address of the server */
#define PMIX_SERVER_URI "pmix.srvr.uri"
/* pid_t: process identifier of the server */
#define PMIX_SERVER_PIDINFO "pmix.srvr.pidinfo"
/* char*: node of the server */
#define PMIX_SERVER_HOSTNAME "pmix.srvr.host"
/* uint32_t: how often to try */
#define PMIX_CONNECT_MAX_RETRIES "pmix.tool.mretries"
/* uint32_t: seconds between tries */
#define PMIX_CONNECT_RETRY_DELAY "pmix.tool.retry"
/* bool: start without a server */
#define PMIX_TOOL_DO_NOT_CONNECT "pmix.tool.nocon"
/* bool: start although no server is found */
#define PMIX_TOOL_CONNECT_OPTIONAL "pmix.tool.conopt"
/* char*: file with the server's address */
#define PMIX_TOOL_ATTACHMENT_FILE "pmix.tool.attach"
/* char*: where a launcher writes its address */
#define PMIX_LAUNCHER_RENDEZVOUS_FILE "pmix.tool.lncrnd"
/* bool: make this the server requests go to */
#define PMIX_PRIMARY_SERVER "pmix.pri.srvr"
/* bool: wait until the server is there */
#define PMIX_WAIT_FOR_CONNECTION "pmix.wait.conn"

/* Reserved keys: session. Data of the session, readable with PMIx_Get by any rank. */

/* char*: resource manager */
#define PMIX_RM_NAME "pmix.rm.name"
/* char*: its version */
#define PMIX_RM_VERSION "pmix.rm.version"
/* char*: name of the cluster */
#define PMIX_CLUSTER_ID "pmix.clid"
/* uint32_t: slots of the session */
#define PMIX_UNIV_SIZE "pmix.univ.size"
/* uint32_t: most processes the realm may run */
#define PMIX_MAX_PROCS "pmix.max.size"
/* uint32_t: slots of the realm */
#define PMIX_NUM_SLOTS "pmix.num.slots"
/* uint32_t: nodes of the realm */
#define PMIX_NUM_NODES "pmix.num.nodes"
/* uint32_t: nodes allocated, used or not */
#define PMIX_NUM_ALLOCATED_NODES "pmix.num.anodes"
/* char*: nodes that run processes of the realm, comma-separated */
#define PMIX_NODE_LIST "pmix.nlist"
/* char*: nodes allocated, comma-separated */
#define PMIX_ALLOCATED_NODELIST "pmix.alist"
/* char*: regular expression of the nodes of the job */
#define PMIX_NODE_MAP "pmix.nmap"
/* char*: the same, plain and comma-separated */
#define PMIX_NODE_MAP_RAW "pmix.nmap.raw"
/* char*: regular expression of the ranks on each node */
#define PMIX_PROC_MAP "pmix.pmap"
/* char*: the same, plain: nodes by semicolons, ranks by commas */
#define PMIX_PROC_MAP_RAW "pmix.pmap.raw"
/* char*: process mapping in the notation of PMI-1 */
#define PMIX_ANL_MAP "pmix.anlmap"
/* bool: host names keep their domain */
#define PMIX_HOSTNAME_KEEP_FQDN "pmix.fqdn"
/* char*: directory of the session */
#define PMIX_TMPDIR "pmix.tmpdir"
/* bool: the resource manager removes the session's directories */
#define PMIX_TDIR_RMCLEAN "pmix.tdir.rmclean"

/* Reserved keys: job. Data of the job a namespace stands for. */

/* char*: identifier of the job */
#define PMIX_JOBID "pmix.jobid"
/* uint32_t: processes of the job */
#define PMIX_JOB_SIZE "pmix.job.size"
/* uint32_t: applications of the job */
#define PMIX_JOB_NUM_APPS "pmix.job.napps"
/* uint32_t: processes of the job on this node */
#define PMIX_LOCAL_SIZE "pmix.local.size"
/* char*: ranks of the job on this node, comma-separated */
#define PMIX_LOCAL_PEERS "pmix.lpeers"
/* pmix_rank_t: lowest rank of the job on this node */
#define PMIX_LOCALLDR "pmix.lldr"
/* char*: cpusets of those ranks, by colons */
#define PMIX_LOCAL_CPUSETS "pmix.lcpus"
/* pmix_rank_t: first global rank of the job */
#define PMIX_NPROC_OFFSET "pmix.offset"
/* char*: directory of the namespace */
#define PMIX_NSDIR "pmix.nsdir"
/* char*: command line that started the job */
#define PMIX_CMD_LINE "pmix.cmd.line"

/* Reserved keys: application. Data of one application of a job; which one is told with
 * PMIX_APPNUM. */

/* pmix_rank_t: lowest rank of the application */
#define PMIX_APPLDR "pmix.aldr"
/* uint32_t: processes of the application */
#define PMIX_APP_SIZE "pmix.app.size"
/* char*: its argument vector, joined by spaces */
#define PMIX_APP_ARGV "pmix.app.argv"
/* char*: how its ranks were placed */
#define PMIX_APP_MAP_TYPE "pmix.apmap.type"
/* char*: where its ranks are */
#define PMIX_APP_MAP_REGEX "pmix.apmap.regex"

/* Reserved keys: node. Data of one node; which one is told with PMIX_NODEID or PMIX_HOSTNAME. */

/* char*: name of the node */
#define PMIX_HOSTNAME "pmix.hname"
/* char*: further names, comma-separated */
#define PMIX_HOSTNAME_ALIASES "pmix.alias"
/* uint32_t: number of the node */
#define PMIX_NODEID "pmix.nodeid"
/* uint32_t: processes on the node, of all jobs */
#define PMIX_NODE_SIZE "pmix.node.size"
/* pmix_data_array_t*: processes on the node */
#define PMIX_LOCAL_PROCS "pmix.lprocs"
/* uint64_t: memory of the node */
#define PMIX_AVAIL_PHYS_MEMORY "pmix.pmem"
/* bool: the node runs more processes than it has slots */
#define PMIX_NODE_OVERSUBSCRIBED "pmix.ndosub"
/* int: number of the node's topology in a list of several (since 5.0) */
#define PMIX_TOPOLOGY_INDEX "pmix.topo.index"

/* Reserved keys: process. Data of one process. */

/* pmix_rank_t: rank in the job */
#define PMIX_RANK "pmix.rank"
/* char*: namespace of the job */
#define PMIX_NSPACE "pmix.nspace"
/* pmix_proc_t*: namespace and rank */
#define PMIX_PROCID "pmix.procid"
/* pmix_rank_t: rank across the jobs of the session */
#define PMIX_GLOBAL_RANK "pmix.grank"
/* uint32_t: number of the process's application */
#define PMIX_APPNUM "pmix.appnum"
/* pmix_rank_t: rank within the application */
#define PMIX_APP_RANK "pmix.apprank"
/* uint16_t: rank among the job's processes on the node */
#define PMIX_LOCAL_RANK "pmix.lrank"
/* uint16_t: rank among all processes on the node */
#define PMIX_NODE_RANK "pmix.nrank"
/* uint16_t: rank among the job's processes of the package */
#define PMIX_PACKAGE_RANK "pmix.pkgrank"
/* pid_t: process identifier */
#define PMIX_PROC_PID "pmix.ppid"
/* uint32_t: session of the process */
#define PMIX_SESSION_ID "pmix.session.id"
/* bool: started by PMIx_Spawn */
#define PMIX_SPAWNED "pmix.spawned"
/* pmix_proc_t*: process that called PMIx_Spawn */
#define PMIX_PARENT_ID "pmix.parent"
/* uint32_t: how often the process was restarted */
#define PMIX_REINCARNATION "pmix.reinc"
/* int: exit code */
#define PMIX_EXIT_CODE "pmix.exit.code"
/* char*: directory of the process */
#define PMIX_PROCDIR "pmix.pdir"
/* char*: processors the process is bound to */
#define PMIX_CPUSET "pmix.cpuset"
/* pmix_cpuset_t*: the same as a bitmap */
#define PMIX_CPUSET_BITMAP "pmix.bitmap"
/* char*: where it sits, for PMIx_Get_relative_locality */
#define PMIX_LOCALITY_STRING "pmix.locstr"
/* char*: credential of the process */
#define PMIX_CREDENTIAL "pmix.cred"
/* char*: address of the process's server */
#define PMIX_MYSERVER_URI "pmix.mysrvr.uri"

/* PMIx_server_register_nspace. Containers for the realms of job data. */

/* pmix_data_array_t*: data of one session */
#define PMIX_SESSION_INFO_ARRAY "pmix.ssn.arr"
/* pmix_data_array_t*: data of one job */
#define PMIX_JOB_INFO_ARRAY "pmix.job.arr"
/* pmix_data_array_t*: data of one application, PMIX_APPNUM among them */
#define PMIX_APP_INFO_ARRAY "pmix.app.arr"
/* pmix_data_array_t*: data of one node, PMIX_NODEID or PMIX_HOSTNAME among them */
#define PMIX_NODE_INFO_ARRAY "pmix.node.arr"
/* pmix_data_array_t*: data of one process, PMIX_RANK among them */
#define PMIX_PROC_INFO_ARRAY "pmix.pdata"
/* bool: register the name only */
#define PMIX_REGISTER_NODATA "pmix.reg.nodata"

/* PMIx_server_setup_application. */

/* bool: collect environment variables */
#define PMIX_SETUP_APP_ENVARS "pmix.setup.env"
/* bool: collect everything else */
#define PMIX_SETUP_APP_NONENVARS "pmix.setup.nenv"
/* bool: collect both */
#define PMIX_SETUP_APP_ALL "pmix.setup.all"

/* What the library tells the host in upcalls. */

/* uint32_t: effective user of the requestor */
#define PMIX_USERID "pmix.euid"
/* uint32_t: effective group of the requestor */
#define PMIX_GRPID "pmix.egid"
/* uint32_t: real user of the requestor (since 5.0) */
#define PMIX_REALUID "pmix.ruid"
/* uint32_t: real group of the requestor (since 5.0) */
#define PMIX_REALGID "pmix.rgid"
/* pmix_proc_t*: who asks (since 6.1) */
#define PMIX_REQUESTOR "pmix.requestor"
/* bool: the requestor is a client */
#define PMIX_REQUESTOR_IS_CLIENT "pmix.req.client"
/* bool: the requestor is a tool */
#define PMIX_REQUESTOR_IS_TOOL "pmix.req.tool"
/* char*: version of the requestor's library */
#define PMIX_VERSION_INFO "pmix.version"
/* uint32_t: the same as a number (since 4.2.9) */
#define PMIX_VERSION_NUMERIC "pmix.vers.num"
/* bool: the array of processes is sorted */
#define PMIX_SORTED_PROC_ARRAY "pmix.sorted.parr"

/* Direct modex. */

/* char*: key that the request waits for */
#define PMIX_REQUIRED_KEY "pmix.req.key"

/* PMIx_Get and waiting. */

/* pmix_scope_t: scope that the datum was put with */
#define PMIX_DATA_SCOPE "pmix.scope"
/* int: seconds to wait; 0 is for ever */
#define PMIX_TIMEOUT "pmix.timeout"
/* bool: look no further than the process's own data */
#define PMIX_OPTIONAL "pmix.optional"
/* bool: ask the local server, but do not wait there */
#define PMIX_IMMEDIATE "pmix.immediate"
/* int: wait until that many of the keys are there; 0: all */
#define PMIX_WAIT "pmix.wait"
/* bool: strings and arrays may point into the library */
#define PMIX_GET_POINTER_VALUES "pmix.get.pntrs"
/* bool: the caller provides the storage of the result */
#define PMIX_GET_STATIC_VALUES "pmix.get.static"
/* bool: fetch anew what was fetched before */
#define PMIX_GET_REFRESH_CACHE "pmix.get.refresh"

/* Which realm a key is looked up in. Set to true in the directives of PMIx_Get. */

/* bool: look in the session realm */
#define PMIX_SESSION_INFO "pmix.ssn.info"
/* bool: look in the job realm */
#define PMIX_JOB_INFO "pmix.job.info"
/* bool: look in the application realm */
#define PMIX_APP_INFO "pmix.app.info"
/* bool: look in the node realm */
#define PMIX_NODE_INFO "pmix.node.info"

/* Qualified values. */

/* pmix_data_array_t*: a value and its qualifiers */
#define PMIX_QUALIFIED_VALUE "pmix.qual.val"

/* Fence, connect and the other collectives. */

/* bool: exchange the committed data as well */
#define PMIX_COLLECT_DATA "pmix.collect"
/* bool: exchange job data that the library computed */
#define PMIX_COLLECT_GENERATED_JOB_INFO "pmix.collect.gen"
/* bool: each clone of a process takes part */
#define PMIX_ALL_CLONES_PARTICIPATE "pmix.clone.part"
/* pmix_status_t: how the collective went on this node */
#define PMIX_LOCAL_COLLECTIVE_STATUS "pmix.loc.col.st"
/* pmix_data_array_t*: local processes that take part in a collective (since 7.0) */
#define PMIX_LOCAL_PARTICIPANTS "pmix.lcl.part"

/* PMIx_Finalize. */

/* bool: pass a barrier before finalizing */
#define PMIX_EMBED_BARRIER "pmix.embed.barrier"

/* PMIx_Publish and PMIx_Lookup. */

/* pmix_data_range_t: who may look it up */
#define PMIX_RANGE "pmix.range"
/* pmix_persistence_t: how long it is kept */
#define PMIX_PERSISTENCE "pmix.persist"
/* pmix_data_array_t*: who may read: PMIX_ACCESS_USERIDS and _GRPIDS */
#define PMIX_ACCESS_PERMISSIONS "pmix.aperms"
/* pmix_data_array_t*: users */
#define PMIX_ACCESS_USERIDS "pmix.auids"
/* pmix_data_array_t*: groups */
#define PMIX_ACCESS_GRPIDS "pmix.agids"

/* Events. */

/* char*: name of the handler */
#define PMIX_EVENT_HDLR_NAME "pmix.evname"
/* bool: before all other handlers */
#define PMIX_EVENT_HDLR_FIRST "pmix.evfirst"
/* bool: after all other handlers */
#define PMIX_EVENT_HDLR_LAST "pmix.evlast"
/* bool: before the others of its category */
#define PMIX_EVENT_HDLR_FIRST_IN_CATEGORY "pmix.evfirstcat"
/* bool: after the others of its category */
#define PMIX_EVENT_HDLR_LAST_IN_CATEGORY "pmix.evlastcat"
/* char*: before the handler of this name */
#define PMIX_EVENT_HDLR_BEFORE "pmix.evbefore"
/* char*: after the handler of this name */
#define PMIX_EVENT_HDLR_AFTER "pmix.evafter"
/* bool: at the front of its category */
#define PMIX_EVENT_HDLR_PREPEND "pmix.evprepend"
/* bool: at the end of its category */
#define PMIX_EVENT_HDLR_APPEND "pmix.evappend"
/* pmix_data_array_t*: processes that shall hear the event */
#define PMIX_EVENT_CUSTOM_RANGE "pmix.evrange"
/* pmix_proc_t*: process the event is about */
#define PMIX_EVENT_AFFECTED_PROC "pmix.evproc"
/* pmix_data_array_t*: processes the event is about */
#define PMIX_EVENT_AFFECTED_PROCS "pmix.evaffected"
/* bool: not for default handlers */
#define PMIX_EVENT_NON_DEFAULT "pmix.evnondef"
/* void*: pointer handed to the handler */
#define PMIX_EVENT_RETURN_OBJECT "pmix.evobject"
/* bool: not for handlers registered later */
#define PMIX_EVENT_DO_NOT_CACHE "pmix.evnocache"
/* pmix_proc_t*: process that raised the event for the source */
#define PMIX_EVENT_PROXY "pmix.evproxy"
/* char*: what happened, for people */
#define PMIX_EVENT_TEXT_MESSAGE "pmix.evtext"
/* time_t: when it happened */
#define PMIX_EVENT_TIMESTAMP "pmix.evtstamp"
/* bool: call the handler once and drop it */
#define PMIX_EVENT_ONESHOT "pmix.evone"
/* bool: the event does not leave this process (since 6.1) */
#define PMIX_EVENT_STAYS_LOCAL "pmix.evlocal"

/* What the host means to do about an event. */

/* int: seconds until the host acts */
#define PMIX_EVENT_ACTION_TIMEOUT "pmix.evtimeout"
/* bool: it will end the session */
#define PMIX_EVENT_TERMINATE_SESSION "pmix.evterm.sess"
/* bool: it will end the job */
#define PMIX_EVENT_TERMINATE_JOB "pmix.evterm.job"
/* bool: it will end the processes of the node */
#define PMIX_EVENT_TERMINATE_NODE "pmix.evterm.node"
/* bool: it will end the process */
#define PMIX_EVENT_TERMINATE_PROC "pmix.evterm.proc"

/* States in job events. */

/* pmix_status_t: how the job ended */
#define PMIX_JOB_TERM_STATUS "pmix.job.term.status"
/* pmix_proc_state_t: state of the process */
#define PMIX_PROC_STATE_STATUS "pmix.proc.state"
/* pmix_status_t: how the process ended */
#define PMIX_PROC_TERM_STATUS "pmix.proc.term.status"

/* PMIx_Spawn. For the job or for one application. */

/* char*: programming models the job uses */
#define PMIX_PERSONALITY "pmix.pers"
/* char*: nodes to run on, comma-separated */
#define PMIX_HOST "pmix.host"
/* char*: file of nodes to run on */
#define PMIX_HOSTFILE "pmix.hostfile"
/* char*: nodes to add to the allocation */
#define PMIX_ADD_HOST "pmix.addhost"
/* char*: file of nodes to add */
#define PMIX_ADD_HOSTFILE "pmix.addhostfile"
/* char*: where the program's library is installed */
#define PMIX_PREFIX "pmix.prefix"
/* char*: working directory */
#define PMIX_WDIR "pmix.wdir"
/* bool: the user gave the working directory */
#define PMIX_WDIR_USER_SPECIFIED "pmix.wdir.user"
/* bool: use the session's directory as working directory */
#define PMIX_SET_SESSION_CWD "pmix.ssncwd"
/* bool: copy the program to the nodes */
#define PMIX_PRELOAD_BIN "pmix.preloadbin"
/* char*: files to copy to the nodes */
#define PMIX_PRELOAD_FILES "pmix.preloadfiles"
/* char*: how ranks are placed */
#define PMIX_MAPBY "pmix.mapby"
/* char*: how ranks are numbered */
#define PMIX_RANKBY "pmix.rankby"
/* char*: what ranks are bound to */
#define PMIX_BINDTO "pmix.bindto"
/* char*: processes per resource */
#define PMIX_PPR "pmix.ppr"
/* uint32_t: processors for each rank */
#define PMIX_CPUS_PER_PROC "pmix.cpuperproc"
/* char*: processors to use */
#define PMIX_CPU_LIST "pmix.cpulist"
/* pmix_data_array_t*: place beside these processes */
#define PMIX_COLOCATE_PROCS "pmix.colproc"
/* uint16_t: that many beside each of them */
#define PMIX_COLOCATE_NPERPROC "pmix.colnum.proc"
/* uint16_t: that many on each of their nodes */
#define PMIX_COLOCATE_NPERNODE "pmix.colnum.node"
/* bool: none on the node of the launcher */
#define PMIX_NO_PROCS_ON_HEAD "pmix.nolocal"
/* bool: never more ranks than slots */
#define PMIX_NO_OVERSUBSCRIBE "pmix.noover"
/* bool: print the bindings */
#define PMIX_REPORT_BINDINGS "pmix.repbind"
/* bool: print them as physical numbers (since 6.1) */
#define PMIX_REPORT_PHYSICAL_CPUS "pmix.repphys.cpus"
/* bool: print the placement */
#define PMIX_DISPLAY_MAP "pmix.dispmap"
/* bool: print the placement with all details */
#define PMIX_DISPLAY_MAP_DETAILED "pmix.dispmapdet"
/* bool: print the allocation */
#define PMIX_DISPLAY_ALLOCATION "pmix.dispalloc"
/* char*: print the topology of these nodes */
#define PMIX_DISPLAY_TOPOLOGY "pmix.disptopo"
/* char*: print the processors of these nodes (since 4.2.9) */
#define PMIX_DISPLAY_PROCESSORS "pmix.dispcpus"
/* bool: print for programs (since 4.2.9) */
#define PMIX_DISPLAY_PARSEABLE_OUTPUT "pmix.dispparse"
/* bool: place, but start nothing */
#define PMIX_DO_NOT_LAUNCH "pmix.dnl"
/* bool: print how the launch proceeds */
#define PMIX_SHOW_LAUNCH_PROGRESS "pmix.showprog"
/* bool: report the ends of children apart from their parents' */
#define PMIX_REPORT_CHILD_SEP "pmix.rptchildsep"
/* bool: the child outlives its parent (since 5.0) */
#define PMIX_SPAWN_CHILD_SEP "pmix.spchildsep"
/* bool: print equal messages once */
#define PMIX_AGGREGATE_HELP "pmix.agg.help"
/* bool: append the rank to argv[0] */
#define PMIX_INDEX_ARGV "pmix.indxargv"
/* pmix_proc_t*: rank that gets standard input */
#define PMIX_STDIN_TGT "pmix.stdin"
/* bool: the program is a tool */
#define PMIX_SPAWN_TOOL "pmix.spwn.tool"
/* int: seconds until the launch counts as failed */
#define PMIX_SPAWN_TIMEOUT "pmix.sp.time"
/* char*: namespace at the root of what spawned the job (since 7.0) */
#define PMIX_SPAWN_TREE_ROOT "pmix.spwn.root"
/* uint32_t: jobs of that tree that still run (since 7.0) */
#define PMIX_SPAWN_TREE_ACTIVE "pmix.spwn.actv"
/* char* or pmix_data_array_t*: allocations to start the job in (since 7.0) */
#define PMIX_SPAWN_TARGET "pmix.spwn.tgt"
/* int: seconds until the job is ended */
#define PMIX_JOB_TIMEOUT "pmix.job.time"
/* bool: on timeout: print stack traces */
#define PMIX_TIMEOUT_STACKTRACES "pmix.tim.stack"
/* bool: on timeout: print states of processes */
#define PMIX_TIMEOUT_REPORT_STATE "pmix.tim.state"
/* bool: the job can lose processes */
#define PMIX_JOB_RECOVERABLE "pmix.recover"
/* bool: the job runs on when processes fail */
#define PMIX_JOB_CONTINUOUS "pmix.continuous"
/* uint32_t: how often a process is restarted */
#define PMIX_MAX_RESTARTS "pmix.maxrestarts"
/* bool: end the job when a process exits with another code than 0 */
#define PMIX_ABORT_NON_ZERO_TERM "pmix.abnz"
/* bool: send events about the job */
#define PMIX_NOTIFY_JOB_EVENTS "pmix.note.jev"
/* bool: send an event when it ends */
#define PMIX_NOTIFY_COMPLETION "pmix.notecomp"
/* bool: send an event when a process ends */
#define PMIX_NOTIFY_PROC_TERMINATION "pmix.noteproc"
/* bool: send an event when a process ends badly */
#define PMIX_NOTIFY_PROC_ABNORMAL_TERMINATION "pmix.noteabproc"
/* bool: log events about the job */
#define PMIX_LOG_JOB_EVENTS "pmix.log.jev"
/* bool: log when it ends */
#define PMIX_LOG_COMPLETION "pmix.logcomp"
/* bool: log when a process ends */
#define PMIX_LOG_PROC_TERMINATION "pmix.logproc"
/* bool: log when a process ends badly */
#define PMIX_LOG_PROC_ABNORMAL_TERMINATION "pmix.logabproc"
/* bool: no event when the job ends well */
#define PMIX_EVENT_SILENT_TERMINATION "pmix.evsilentterm"
/* bool: the caller has collected the environment already */
#define PMIX_ENVARS_HARVESTED "pmix.evar.hvstd"
/* pmix_envar_t*: set a variable */
#define PMIX_SET_ENVAR "pmix.envar.set"
/* pmix_envar_t*: set a variable unless it is set */
#define PMIX_ADD_ENVAR "pmix.envar.add"
/* char*: remove a variable */
#define PMIX_UNSET_ENVAR "pmix.envar.unset"
/* pmix_envar_t*: put a value in front of a variable's */
#define PMIX_PREPEND_ENVAR "pmix.envar.prepnd"
/* pmix_envar_t*: put a value behind a variable's */
#define PMIX_APPEND_ENVAR "pmix.envar.appnd"
/* pmix_envar_t*: make sure a value comes first in a variable */
#define PMIX_FIRST_ENVAR "pmix.envar.first"
/* bool: hand the caller's environment on (since 6.1) */
#define PMIX_FWD_ENVIRONMENT "pmix.fwdenv"
/* char*: options of the run-time, comma-separated */
#define PMIX_RUNTIME_OPTIONS "pmix.runopt"
/* bool: whether graphics processors are used (since 6.1) */
#define PMIX_GPU_SUPPORT "pmix.gpu.support"
/* char*: kinds of memory the program wants (since 6.1) */
#define PMIX_MEM_ALLOC_KIND "pmix.alloc.mkind"
/* bool: give it a pseudo-terminal (since 6.1) */
#define PMIX_SPAWN_PTY "pmix.spawn.pty"
/* pmix_byte_object_t: settings of that terminal (since 6.1) */
#define PMIX_PTY_TERMIO "pmix.pty.termio"
/* pmix_byte_object_t: size of that terminal (since 6.1) */
#define PMIX_PTY_WSIZE "pmix.pty.wsize"

/* Spawning by tools and launchers. */

/* char*: program that starts each process */
#define PMIX_FORKEXEC_AGENT "pmix.fe.agnt"
/* char*: program that starts each process, with its arguments */
#define PMIX_EXEC_AGENT "pmix.exec.agnt"
/* char*: program to use as the launcher's daemon */
#define PMIX_LAUNCHER_DAEMON "pmix.lnch.dmn"
/* pmix_data_array_t*: directives for the launcher */
#define PMIX_LAUNCH_DIRECTIVES "pmix.lnch.dirs"
/* bool: forward standard input to the job */
#define PMIX_FWD_STDIN "pmix.fwd.stdin"
/* bool: forward standard output to the caller */
#define PMIX_FWD_STDOUT "pmix.fwd.stdout"
/* bool: forward standard error to the caller */
#define PMIX_FWD_STDERR "pmix.fwd.stderr"
/* bool: forward the diagnostic stream to the caller */
#define PMIX_FWD_STDDIAG "pmix.fwd.stddiag"
/* bool: outlive the tool */
#define PMIX_NOHUP "pmix.nohup"

/* Debuggers. */

/* varies: stop at the first instruction */
#define PMIX_DEBUG_STOP_ON_EXEC "pmix.dbg.exec"
/* varies: stop in PMIx_Init */
#define PMIX_DEBUG_STOP_IN_INIT "pmix.dbg.init"
/* varies: stop where the application chooses */
#define PMIX_DEBUG_STOP_IN_APP "pmix.dbg.notify"
/* char*: name of that place */
#define PMIX_BREAKPOINT "pmix.brkpnt"
/* pmix_proc_t*: processes to debug */
#define PMIX_DEBUG_TARGET "pmix.dbg.tgt"
/* bool: the application is a debugger's daemons */
#define PMIX_DEBUGGER_DAEMONS "pmix.debugger"
/* bool: start the application beside the others */
#define PMIX_COSPAWN_APP "pmix.cospawn"
/* uint16_t: daemons on each node */
#define PMIX_DEBUG_DAEMONS_PER_NODE "pmix.dbg.dpnd"
/* uint16_t: daemons for each process */
#define PMIX_DEBUG_DAEMONS_PER_PROC "pmix.dbg.dpproc"
/* pmix_data_array_t*: query: all processes of a job */
#define PMIX_QUERY_PROC_TABLE "pmix.qry.ptable"
/* pmix_data_array_t*: query: its processes on this node */
#define PMIX_QUERY_LOCAL_PROC_TABLE "pmix.qry.lptable"

/* PMIx_Query_info: keys. */

/* char*: keys that can be asked for */
#define PMIX_QUERY_SUPPORTED_KEYS "pmix.qry.keys"
/* bool: qualifiers that are understood */
#define PMIX_QUERY_SUPPORTED_QUALIFIERS "pmix.qry.quals"
/* char*: namespaces that run, comma-separated */
#define PMIX_QUERY_NAMESPACES "pmix.qry.ns"
/* pmix_data_array_t*: namespaces and what is known of them */
#define PMIX_QUERY_NAMESPACE_INFO "pmix.qry.nsinfo"
/* pmix_status_t: state of a job */
#define PMIX_QUERY_JOB_STATUS "pmix.qry.jst"
/* char*: queues */
#define PMIX_QUERY_QUEUE_LIST "pmix.qry.qlst"
/* pmix_data_array_t*: state of a queue */
#define PMIX_QUERY_QUEUE_STATUS "pmix.qry.qst"
/* char*: spawn attributes that are supported */
#define PMIX_QUERY_SPAWN_SUPPORT "pmix.qry.spawn"
/* char*: debug attributes that are supported */
#define PMIX_QUERY_DEBUG_SUPPORT "pmix.qry.debug"
/* pmix_data_array_t*: attributes that are supported, by function */
#define PMIX_QUERY_ATTRIBUTE_SUPPORT "pmix.qry.attrs"
/* pmix_data_array_t*: memory in use */
#define PMIX_QUERY_MEMORY_USAGE "pmix.qry.mem"
/* pmix_data_array_t*: what the caller may do */
#define PMIX_QUERY_AUTHORIZATIONS "pmix.qry.auths"
/* pmix_data_array_t*: servers a tool could connect to */
#define PMIX_QUERY_AVAIL_SERVERS "pmix.qry.asrvrs"
/* char*: versions of the stable ABI */
#define PMIX_QUERY_STABLE_ABI_VERSION "pmix.qry.stabiver"
/* char*: versions of the provisional ABI */
#define PMIX_QUERY_PROVISIONAL_ABI_VERSION "pmix.qry.prabiver"
/* pmix_data_array_t*: allocations and their nodes (since 5.0) */
#define PMIX_QUERY_ALLOCATION "pmix.query.allc"
/* pmix_data_array_t*: identifiers of the allocations (since 7.0) */
#define PMIX_QUERY_ALLOC_IDS "pmix.query.alloc.ids"
/* pmix_data_array_t*: properties of an allocation (since 7.0) */
#define PMIX_QUERY_ALLOC_PROPERTIES "pmix.query.alloc.prop"
/* uint32_t: free slots (since 5.0) */
#define PMIX_QUERY_AVAILABLE_SLOTS "pmix.qry.aslots"
/* char*: nodes of a namespace (since 5.0) */
#define PMIX_QUERY_RESOLVE_NODE "pmix.qry.node"
/* pmix_data_array_t*: processes of a namespace on a node (since 5.0) */
#define PMIX_QUERY_RESOLVE_PEERS "pmix.qry.peers"
/* pmix_data_array_t*: devices of a node (since 6.1) */
#define PMIX_QUERY_DEVICES "pmix.qry.dev"
/* pmix_data_array_t*: smallest unit that can be allocated (since 6.1) */
#define PMIX_QUERY_MIN_ALLOC_UNIT "pmix.qry.minau"
/* char*: usage of a node (since 6.1) */
#define PMIX_QUERY_NODE_RESOURCE_USAGE "pmix.qry.nres"
/* pmix_proc_t*: usage of a process (since 6.1) */
#define PMIX_QUERY_PROC_RESOURCE_USAGE "pmix.qry.pres"
/* pmix_data_array_t*: resource blocks (since 6.1) */
#define PMIX_QUERY_RES_BLOCKS "pmix.qry.resblks"
/* pmix_data_array_t*: contents of a resource block (since 6.1) */
#define PMIX_QUERY_RES_BLOCK_DEF "pmix.qry.resdef"
/* float: average memory of the clients */
#define PMIX_CLIENT_AVG_MEMORY "pmix.cl.mem.avg"
/* float: memory of the daemon */
#define PMIX_DAEMON_MEMORY "pmix.dmn.mem"
/* uint32_t: seconds the allocation still has */
#define PMIX_TIME_REMAINING "pmix.time.remaining"

/* PMIx_Query_info: qualifiers and results. */

/* pmix_data_array_t*: qualifiers this result belongs to */
#define PMIX_QUERY_QUALIFIERS "pmix.qry.quals"
/* pmix_data_array_t*: results of one query */
#define PMIX_QUERY_RESULTS "pmix.qry.res"
/* bool: ask anew */
#define PMIX_QUERY_REFRESH_CACHE "pmix.qry.rfsh"
/* bool: report averages */
#define PMIX_QUERY_REPORT_AVG "pmix.qry.avg"
/* bool: report minima and maxima */
#define PMIX_QUERY_REPORT_MINMAX "pmix.qry.minmax"
/* bool: this node only */
#define PMIX_QUERY_LOCAL_ONLY "pmix.qry.local"
/* char*: allocation the question is about */
#define PMIX_QUERY_ALLOC_STATUS "pmix.query.alloc"
/* char*: functions of the client library */
#define PMIX_CLIENT_FUNCTIONS "pmix.client.fns"
/* char*: attributes of the client library */
#define PMIX_CLIENT_ATTRIBUTES "pmix.client.attrs"
/* char*: functions of the server library */
#define PMIX_SERVER_FUNCTIONS "pmix.srvr.fns"
/* char*: attributes of the server library */
#define PMIX_SERVER_ATTRIBUTES "pmix.srvr.attrs"
/* char*: functions of the host */
#define PMIX_HOST_FUNCTIONS "pmix.host.fns"
/* char*: attributes of the host */
#define PMIX_HOST_ATTRIBUTES "pmix.host.attrs"
/* char*: functions of the tool library */
#define PMIX_TOOL_FUNCTIONS "pmix.tool.fns"
/* char*: attributes of the tool library */
#define PMIX_TOOL_ATTRIBUTES "pmix.tool.attrs"
/* pmix_data_array_t*: data of one server */
#define PMIX_SERVER_INFO_ARRAY "pmix.srv.arr"

/* Registered attributes. */

/* varies: largest value allowed */
#define PMIX_MAX_VALUE "pmix.descr.maxval"
/* varies: smallest value allowed */
#define PMIX_MIN_VALUE "pmix.descr.minval"
/* char*: values allowed, comma-separated */
#define PMIX_ENUM_VALUE "pmix.descr.enum"

/* PMIx_Log. */

/* pmix_proc_t*: process that logs */
#define PMIX_LOG_SOURCE "pmix.log.source"
/* char*: to the launcher's standard error */
#define PMIX_LOG_STDERR "pmix.log.stderr"
/* char*: to the launcher's standard output */
#define PMIX_LOG_STDOUT "pmix.log.stdout"
/* char*: to a system log */
#define PMIX_LOG_SYSLOG "pmix.log.syslog"
/* char*: to this node's system log */
#define PMIX_LOG_LOCAL_SYSLOG "pmix.log.lsys"
/* char*: to the cluster's system log */
#define PMIX_LOG_GLOBAL_SYSLOG "pmix.log.gsys"
/* int: priority there */
#define PMIX_LOG_SYSLOG_PRI "pmix.log.syspri"
/* pmix_data_array_t*: by mail */
#define PMIX_LOG_EMAIL "pmix.log.email"
/* char*: receivers, comma-separated */
#define PMIX_LOG_EMAIL_ADDR "pmix.log.emaddr"
/* char*: sender */
#define PMIX_LOG_EMAIL_SENDER_ADDR "pmix.log.emfaddr"
/* char*: subject */
#define PMIX_LOG_EMAIL_SUBJECT "pmix.log.emsub"
/* char*: text */
#define PMIX_LOG_EMAIL_MSG "pmix.log.emmsg"
/* char*: mail server */
#define PMIX_LOG_EMAIL_SERVER "pmix.log.esrvr"
/* int32_t: its port */
#define PMIX_LOG_EMAIL_SRVR_PORT "pmix.log.esrvrprt"
/* bool: to the cluster's data base */
#define PMIX_LOG_GLOBAL_DATASTORE "pmix.log.gstore"
/* bool: to the job's record */
#define PMIX_LOG_JOB_RECORD "pmix.log.jrec"
/* time_t: when it happened */
#define PMIX_LOG_TIMESTAMP "pmix.log.tstmp"
/* bool: use the time of logging */
#define PMIX_LOG_GENERATE_TIMESTAMP "pmix.log.gtstmp"
/* bool: mark with the source */
#define PMIX_LOG_TAG_OUTPUT "pmix.log.tag"
/* bool: mark with the time */
#define PMIX_LOG_TIMESTAMP_OUTPUT "pmix.log.tsout"
/* bool: write XML */
#define PMIX_LOG_XML_OUTPUT "pmix.log.xml"
/* bool: use the first channel that works */
#define PMIX_LOG_ONCE "pmix.log.once"
/* pmix_byte_object_t: message of bytes */
#define PMIX_LOG_MSG "pmix.log.msg"
/* bool: drop equal messages */
#define PMIX_LOG_AGG "pmix.log.agg"
/* char*: key of a help message */
#define PMIX_LOG_KEY "pmix.log.key"
/* char*: text of a help message */
#define PMIX_LOG_VAL "pmix.log.val"

/* Forwarding of standard streams. */

/* uint32_t: bytes to keep for a late reader */
#define PMIX_IOF_CACHE_SIZE "pmix.iof.csize"
/* bool: drop the oldest when full */
#define PMIX_IOF_DROP_OLDEST "pmix.iof.old"
/* bool: drop the newest when full */
#define PMIX_IOF_DROP_NEWEST "pmix.iof.new"
/* uint32_t: bytes to gather before sending */
#define PMIX_IOF_BUFFERING_SIZE "pmix.iof.bsize"
/* uint32_t: seconds to gather before sending */
#define PMIX_IOF_BUFFERING_TIME "pmix.iof.btime"
/* bool: the stream has ended */
#define PMIX_IOF_COMPLETE "pmix.iof.cmp"
/* bool: mark each line with stream and process */
#define PMIX_IOF_TAG_OUTPUT "pmix.iof.tag"
/* bool: mark it with host and process identifier too */
#define PMIX_IOF_TAG_DETAILED_OUTPUT "pmix.iof.tagdet"
/* bool: mark it with the whole namespace */
#define PMIX_IOF_TAG_FULLNAME_OUTPUT "pmix.iof.tagfull"
/* bool: mark it with the rank */
#define PMIX_IOF_RANK_OUTPUT "pmix.iof.rank"
/* bool: mark it with the time */
#define PMIX_IOF_TIMESTAMP_OUTPUT "pmix.iof.ts"
/* bool: write XML */
#define PMIX_IOF_XML_OUTPUT "pmix.iof.xml"
/* bool: take the stream from other receivers */
#define PMIX_IOF_REDIRECT "pmix.iof.redir"
/* bool: send the caller's standard input */
#define PMIX_IOF_PUSH_STDIN "pmix.iof.stdin"
/* bool: deliver a copy */
#define PMIX_IOF_COPY "pmix.iof.cpy"
/* bool: write output on the node where it arises */
#define PMIX_IOF_LOCAL_OUTPUT "pmix.iof.local"
/* bool: write it as it comes, not by lines */
#define PMIX_IOF_OUTPUT_RAW "pmix.iof.raw"
/* char*: prefix of a file for each rank */
#define PMIX_IOF_OUTPUT_TO_FILE "pmix.iof.file"
/* char*: directory with a file for each rank */
#define PMIX_IOF_OUTPUT_TO_DIRECTORY "pmix.iof.dir"
/* bool: write to the file only */
#define PMIX_IOF_FILE_ONLY "pmix.iof.fonly"
/* bool: the file name is a pattern */
#define PMIX_IOF_FILE_PATTERN "pmix.iof.fpt"
/* bool: standard error goes with standard output */
#define PMIX_IOF_MERGE_STDERR_STDOUT "pmix.iof.mrg"
/* bool: spawned jobs are forwarded as the job that spawned them (since 7.0) */
#define PMIX_IOF_INHERIT "pmix.iof.inhrt"

/* Process groups. */

/* char*: name of the group */
#define PMIX_GROUP_ID "pmix.grp.id"
/* bool: the caller leads the group */
#define PMIX_GROUP_LEADER "pmix.grp.ldr"
/* bool: members may be missing */
#define PMIX_GROUP_OPTIONAL "pmix.grp.opt"
/* bool: tell of members that end */
#define PMIX_GROUP_NOTIFY_TERMINATION "pmix.grp.notterm"
/* bool: collectives survive the loss of members */
#define PMIX_GROUP_FT_COLLECTIVE "pmix.grp.ftcoll"
/* pmix_data_array_t*: members */
#define PMIX_GROUP_MEMBERSHIP "pmix.grp.mbrs"
/* bool: ask for a context number */
#define PMIX_GROUP_ASSIGN_CONTEXT_ID "pmix.grp.actxid"
/* size_t: context number */
#define PMIX_GROUP_CONTEXT_ID "pmix.grp.ctxid"
/* size_t: the member's own context number */
#define PMIX_GROUP_LOCAL_CID "pmix.grp.lclid"
/* bool: all members are on this node */
#define PMIX_GROUP_LOCAL_ONLY "pmix.grp.lcl"
/* pmix_byte_object_t: data of a member for the others */
#define PMIX_GROUP_ENDPT_DATA "pmix.grp.endpt"
/* pmix_data_array_t*: members to add */
#define PMIX_GROUP_ADD_MEMBERS "pmix.grp.add"
/* pmix_data_array_t*: data of a member for the others, by key */
#define PMIX_GROUP_INFO "pmix.grp.info"
/* pmix_data_array_t*: those of all members (since 6.1) */
#define PMIX_GROUP_INFO_ARRAY "pmix.grp.infoarray"
/* pmix_byte_object_t: job data of members from other namespaces (since 6.1) */
#define PMIX_GROUP_JOB_INFO "pmix.grp.jinfo"
/* size_t: number of leaders that start the group (since 6.1) */
#define PMIX_GROUP_BOOTSTRAP "pmix.grp.btstrp"
/* pmix_data_array_t*: order that the members shall have (since 6.1) */
#define PMIX_GROUP_FINAL_MEMBERSHIP_ORDER "pmix.grp.finord"
/* pmix_data_array_t*: groups a process belongs to */
#define PMIX_GROUP_NAMES "pmix.pgrp.nm"
/* size_t: query: number of groups */
#define PMIX_QUERY_NUM_GROUPS "pmix.qry.pgrpnum"
/* pmix_data_array_t*: query: their names */
#define PMIX_QUERY_GROUP_NAMES "pmix.qry.pgrp"
/* pmix_data_array_t*: query: members of one */
#define PMIX_QUERY_GROUP_MEMBERSHIP "pmix.qry.pgrpmems"

/* Process sets. */

/* char*: name of the set */
#define PMIX_PSET_NAME "pmix.pset.nm"
/* pmix_data_array_t*: its members */
#define PMIX_PSET_MEMBERS "pmix.pset.mems"
/* pmix_data_array_t*: sets a process belongs to */
#define PMIX_PSET_NAMES "pmix.pset.nms"
/* size_t: query: number of sets */
#define PMIX_QUERY_NUM_PSETS "pmix.qry.psetnum"
/* char*: query: their names, comma-separated */
#define PMIX_QUERY_PSET_NAMES "pmix.qry.psets"
/* pmix_data_array_t*: query: members of one */
#define PMIX_QUERY_PSET_MEMBERSHIP "pmix.qry.pmems"

/* PMIx_Job_control. */

/* char*: name of the request */
#define PMIX_JOB_CTRL_ID "pmix.jctrl.id"
/* char*: cancel the request of that name */
#define PMIX_JOB_CTRL_CANCEL "pmix.jctrl.cancel"
/* bool: kill the processes */
#define PMIX_JOB_CTRL_KILL "pmix.jctrl.kill"
/* bool: end them in good order */
#define PMIX_JOB_CTRL_TERMINATE "pmix.jctrl.term"
/* int: send them a signal */
#define PMIX_JOB_CTRL_SIGNAL "pmix.jctrl.sig"
/* bool: stop them */
#define PMIX_JOB_CTRL_PAUSE "pmix.jctrl.pause"
/* bool: let them go on */
#define PMIX_JOB_CTRL_RESUME "pmix.jctrl.resume"
/* char*: restart them from this checkpoint */
#define PMIX_JOB_CTRL_RESTART "pmix.jctrl.restart"
/* char*: checkpoint them under this name */
#define PMIX_JOB_CTRL_CHECKPOINT "pmix.jctrl.ckpt"
/* bool: by an event */
#define PMIX_JOB_CTRL_CHECKPOINT_EVENT "pmix.jctrl.ckptev"
/* int: by this signal */
#define PMIX_JOB_CTRL_CHECKPOINT_SIGNAL "pmix.jctrl.ckptsig"
/* int: seconds a checkpoint may take; repeats the string of the signal */
#define PMIX_JOB_CTRL_CHECKPOINT_TIMEOUT "pmix.jctrl.ckptsig"
/* pmix_data_array_t*: ways the application can be checkpointed */
#define PMIX_JOB_CTRL_CHECKPOINT_METHOD "pmix.jctrl.ckmethod"
/* bool: the job may be preempted */
#define PMIX_JOB_CTRL_PREEMPTIBLE "pmix.jctrl.preempt"
/* char*: nodes to provision */
#define PMIX_JOB_CTRL_PROVISION "pmix.jctrl.pvn"
/* char*: image for them */
#define PMIX_JOB_CTRL_PROVISION_IMAGE "pmix.jctrl.pvnimg"
/* char*: make the targets a process set of this name (since 4.2.9) */
#define PMIX_JOB_CTRL_DEFINE_PSET "pmix.jctrl.defpset"
/* bool: children count apart from their parents (since 5.0) */
#define PMIX_JOB_CTRL_SEP "pmix.jctrl.sep"
/* char*: files to remove at the end, comma-separated */
#define PMIX_REGISTER_CLEANUP "pmix.reg.cleanup"
/* char*: directories to remove at the end, comma-separated */
#define PMIX_REGISTER_CLEANUP_DIR "pmix.reg.cleanupdir"
/* bool: with all they hold */
#define PMIX_CLEANUP_RECURSIVE "pmix.clnup.recurse"
/* bool: only when they are empty */
#define PMIX_CLEANUP_EMPTY "pmix.clnup.empty"
/* char*: what to leave, comma-separated */
#define PMIX_CLEANUP_IGNORE "pmix.clnup.ignore"
/* bool: leave the directory itself */
#define PMIX_CLEANUP_LEAVE_TOPDIR "pmix.clnup.lvtop"

/* PMIx_Process_monitor. */

/* char*: name of the request */
#define PMIX_MONITOR_ID "pmix.monitor.id"
/* char*: cancel the request of that name; NULL cancels all */
#define PMIX_MONITOR_CANCEL "pmix.monitor.cancel"
/* bool: the application decides what happens */
#define PMIX_MONITOR_APP_CONTROL "pmix.monitor.appctrl"
/* bool: watch for heartbeats */
#define PMIX_MONITOR_HEARTBEAT "pmix.monitor.mbeat"
/* bool: one heartbeat */
#define PMIX_SEND_HEARTBEAT "pmix.monitor.beat"
/* uint32_t: seconds between them */
#define PMIX_MONITOR_HEARTBEAT_TIME "pmix.monitor.btime"
/* uint32_t: how many may be missing */
#define PMIX_MONITOR_HEARTBEAT_DROPS "pmix.monitor.bdrop"
/* char*: file to watch */
#define PMIX_MONITOR_FILE "pmix.monitor.fmon"
/* bool: whether it grows */
#define PMIX_MONITOR_FILE_SIZE "pmix.monitor.fsize"
/* char*: when it was read */
#define PMIX_MONITOR_FILE_ACCESS "pmix.monitor.faccess"
/* char*: when it was written */
#define PMIX_MONITOR_FILE_MODIFY "pmix.monitor.fmod"
/* uint32_t: seconds between looks */
#define PMIX_MONITOR_FILE_CHECK_TIME "pmix.monitor.ftime"
/* uint32_t: how many may find no change */
#define PMIX_MONITOR_FILE_DROPS "pmix.monitor.fdrop"
/* pmix_data_array_t*: usage of processes (since 6.1) */
#define PMIX_MONITOR_PROC_RESOURCE_USAGE "pmix.monitor.presuse"
/* pmix_data_array_t*: usage of nodes (since 6.1) */
#define PMIX_MONITOR_NODE_RESOURCE_USAGE "pmix.monitor.ndresuse"
/* pmix_data_array_t*: usage of disks (since 6.1) */
#define PMIX_MONITOR_DISK_RESOURCE_USAGE "pmix.monitor.dkresuse"
/* pmix_data_array_t*: usage of networks (since 6.1) */
#define PMIX_MONITOR_NET_RESOURCE_USAGE "pmix.monitor.netresuse"
/* uint32_t: seconds between reports (since 6.1) */
#define PMIX_MONITOR_RESOURCE_RATE "pmix.monitor.resrate"
/* pmix_data_array_t*: which processes (since 6.1) */
#define PMIX_MONITOR_TARGET_PROCS "pmix.monitor.tgtproc"
/* pmix_data_array_t*: which processes, by node and process identifier (since 6.1) */
#define PMIX_MONITOR_TARGET_PIDS "pmix.monitor.tgtpid"
/* pmix_data_array_t*: which nodes, by name (since 6.1) */
#define PMIX_MONITOR_TARGET_NODES "pmix.monitor.tgtnode"
/* pmix_data_array_t*: which nodes, by number (since 6.1) */
#define PMIX_MONITOR_TARGET_NODEIDS "pmix.monitor.tgtndids"
/* pmix_data_array_t*: which disks (since 6.1) */
#define PMIX_MONITOR_TARGET_DISKS "pmix.monitor.tgtdks"
/* pmix_data_array_t*: which networks (since 6.1) */
#define PMIX_MONITOR_TARGET_NETS "pmix.monitor.tgtnets"
/* bool: this node only (since 6.1) */
#define PMIX_MONITOR_LOCAL_ONLY "pmix.monitor.local"
/* pmix_proc_t*: process that asks for another (since 6.1) */
#define PMIX_MONITOR_PROXY "pmix.monitor.proxy"

/* Resource usage reports. Containers and their members, in the place of the statistics
 * structures. */

/* pmix_data_array_t*: one disk (since 6.1) */
#define PMIX_DISK_RESOURCE_USAGE "pmix.disk.res"
/* char*: its name (since 6.1) */
#define PMIX_DISK_ID "pmix.disk.id"
/* time_t: when it was sampled (since 6.1) */
#define PMIX_DISK_SAMPLE_TIME "pmix.disk.samptime"
/* uint64_t: reads completed (since 6.1) */
#define PMIX_DISK_READ_COMPLETED "pmix.disk.rdscomp"
/* uint64_t: reads merged (since 6.1) */
#define PMIX_DISK_READ_MERGED "pmix.disk.rdsmrgd"
/* uint64_t: sectors read (since 6.1) */
#define PMIX_DISK_READ_SECTORS "pmix.disk.rdsct"
/* uint64_t: milliseconds of reading (since 6.1) */
#define PMIX_DISK_READ_MILLISEC "pmix.disk.rdms"
/* uint64_t: writes completed (since 6.1) */
#define PMIX_DISK_WRITE_COMPLETED "pmix.disk.wtscomp"
/* uint64_t: writes merged (since 6.1) */
#define PMIX_DISK_WRITE_MERGED "pmix.disk.wtsmrgd"
/* uint64_t: sectors written (since 6.1) */
#define PMIX_DISK_WRITE_SECTORS "pmix.disk.wtsct"
/* uint64_t: milliseconds of writing (since 6.1) */
#define PMIX_DISK_WRITE_MILLISEC "pmix.disk.wtms"
/* uint64_t: operations under way (since 6.1) */
#define PMIX_DISK_IO_IN_PROGRESS "pmix.disk.ios"
/* uint64_t: milliseconds with operations under way (since 6.1) */
#define PMIX_DISK_IO_MILLISEC "pmix.disk.ioms"
/* uint64_t: those, times the operations (since 6.1) */
#define PMIX_DISK_IO_WEIGHTED "pmix.disk.iowght"
/* pmix_data_array_t*: one network interface (since 6.1) */
#define PMIX_NETWORK_RESOURCE_USAGE "pmix.net.res"
/* char*: its name (since 6.1) */
#define PMIX_NETWORK_ID "pmix.net.id"
/* time_t: when it was sampled (since 6.1) */
#define PMIX_NET_SAMPLE_TIME "pmix.net.samptime"
/* uint64_t: bytes received (since 6.1) */
#define PMIX_NET_RECVD_BYTES "pmix.net.rcb"
/* uint64_t: packets received (since 6.1) */
#define PMIX_NET_RECVD_PCKTS "pmix.net.rcp"
/* uint64_t: errors in receiving (since 6.1) */
#define PMIX_NET_RECVD_ERRS "pmix.net.rcerr"
/* uint64_t: bytes sent (since 6.1) */
#define PMIX_NET_SENT_BYTES "pmix.net.sntb"
/* uint64_t: packets sent (since 6.1) */
#define PMIX_NET_SENT_PCKTS "pmix.net.sntp"
/* uint64_t: errors in sending (since 6.1) */
#define PMIX_NET_SENT_ERRS "pmix.net.snterr"
/* pmix_data_array_t*: one node (since 6.1) */
#define PMIX_NODE_RESOURCE_USAGE "pmix.node.res"
/* time_t: when it was sampled (since 6.1) */
#define PMIX_NODE_SAMPLE_TIME "pmix.node.samptime"
/* float: load over one minute (since 6.1) */
#define PMIX_NODE_LOAD_AVG "pmix.node.la"
/* float: load over five minutes (since 6.1) */
#define PMIX_NODE_LOAD_AVG5 "pmix.node.la5"
/* float: load over fifteen minutes (since 6.1) */
#define PMIX_NODE_LOAD_AVG15 "pmix.node.la15"
/* float: memory (since 6.1) */
#define PMIX_NODE_MEM_TOTAL "pmix.node.mtot"
/* float: memory unused (since 6.1) */
#define PMIX_NODE_MEM_FREE "pmix.node.mfree"
/* float: memory in buffers (since 6.1) */
#define PMIX_NODE_MEM_BUFFERS "pmix.node.mbuf"
/* float: memory in the page cache (since 6.1) */
#define PMIX_NODE_MEM_CACHED "pmix.node.mcache"
/* float: memory mapped (since 6.1) */
#define PMIX_NODE_MEM_MAPPED "pmix.node.mmap"
/* float: swapped memory in the cache (since 6.1) */
#define PMIX_NODE_MEM_SWAP_CACHED "pmix.node.mswpc"
/* float: swap unused (since 6.1) */
#define PMIX_NODE_MEM_SWAP_FREE "pmix.node.mswpfree"
/* float: swap (since 6.1) */
#define PMIX_NODE_SWAP_TOTAL "pmix.node.mswpt"
/* pmix_data_array_t*: one process (since 6.1) */
#define PMIX_PROC_RESOURCE_USAGE "pmix.proc.res"
/* time_t: when it was sampled (since 6.1) */
#define PMIX_PROC_SAMPLE_TIME "pmix.proc.samptime"
/* char*: its state in the operating system (since 6.1) */
#define PMIX_PROC_OS_STATE "pmix.proc.osstate"
/* struct timeval: processor time used (since 6.1) */
#define PMIX_PROC_TIME "pmix.proc.time"
/* float: share of a processor (since 6.1) */
#define PMIX_PROC_PERCENT_CPU "pmix.proc.pcpu"
/* int32_t: its priority (since 6.1) */
#define PMIX_PROC_PRIORITY "pmix.proc.pri"
/* uint16_t: its threads (since 6.1) */
#define PMIX_PROC_NUM_THREADS "pmix.proc.nthr"
/* float: proportional memory (since 6.1) */
#define PMIX_PROC_PSS "pmix.proc.pss"
/* float: resident memory (since 6.1) */
#define PMIX_PROC_RSS "pmix.proc.rss"
/* float: virtual memory (since 6.1) */
#define PMIX_PROC_VSIZE "pmix.proc.vsize"
/* float: most virtual memory it had (since 6.1) */
#define PMIX_PROC_PEAK_VSIZE "pmix.proc.pkvsize"
/* uint16_t: processor it ran on (since 6.1) */
#define PMIX_PROC_CPU "pmix.proc.cpu"

/* PMIx_Allocation_request. */

/* char*: identifier of the allocation, from the host */
#define PMIX_ALLOC_ID "pmix.alloc.id"
/* char*: identifier of the request, from the caller */
#define PMIX_ALLOC_REQ_ID "pmix.alloc.reqid"
/* char*: queue */
#define PMIX_ALLOC_QUEUE "pmix.alloc.queue"
/* uint64_t: nodes wanted */
#define PMIX_ALLOC_NUM_NODES "pmix.alloc.nnodes"
/* char*: nodes wanted, by name */
#define PMIX_ALLOC_NODE_LIST "pmix.alloc.nlist"
/* uint64_t: processors wanted */
#define PMIX_ALLOC_NUM_CPUS "pmix.alloc.ncpus"
/* char*: processors wanted on each node */
#define PMIX_ALLOC_NUM_CPU_LIST "pmix.alloc.ncpulist"
/* char*: processors wanted, by number */
#define PMIX_ALLOC_CPU_LIST "pmix.alloc.cpulist"
/* float: megabytes wanted */
#define PMIX_ALLOC_MEM_SIZE "pmix.alloc.msize"
/* uint32_t: how long; seconds, or text from 5.0 on */
#define PMIX_ALLOC_TIME "pmix.alloc.time"
/* float: megabits a second wanted */
#define PMIX_ALLOC_BANDWIDTH "pmix.alloc.bw"
/* pmix_data_array_t*: a fabric wanted, with its details */
#define PMIX_ALLOC_FABRIC "pmix.alloc.net"
/* char*: name of that part of the request */
#define PMIX_ALLOC_FABRIC_ID "pmix.alloc.netid"
/* char*: type of fabric */
#define PMIX_ALLOC_FABRIC_TYPE "pmix.alloc.nettype"
/* char*: plane of the fabric */
#define PMIX_ALLOC_FABRIC_PLANE "pmix.alloc.netplane"
/* char*: quality of service */
#define PMIX_ALLOC_FABRIC_QOS "pmix.alloc.netqos"
/* size_t: endpoints for each process */
#define PMIX_ALLOC_FABRIC_ENDPTS "pmix.alloc.endpts"
/* size_t: endpoints for each node */
#define PMIX_ALLOC_FABRIC_ENDPTS_NODE "pmix.alloc.endpts.nd"
/* pmix_byte_object_t: security key for the fabric */
#define PMIX_ALLOC_FABRIC_SEC_KEY "pmix.alloc.nsec"
/* bool: the allocation may be preempted (since 4.2.9) */
#define PMIX_ALLOC_PREEMPTIBLE "pmix.alloc.preempt"
/* char*: when it shall begin (since 5.0) */
#define PMIX_ALLOC_BEGIN "pmix.alloc.begin"
/* char*: allocations to wait for (since 5.0) */
#define PMIX_ALLOC_DEPENDENCY "pmix.alloc.depend"
/* char*: nodes not wanted (since 5.0) */
#define PMIX_ALLOC_EXCLUDE "pmix.alloc.exclude"
/* char*: image to boot (since 5.0) */
#define PMIX_ALLOC_IMAGE "pmix.alloc.image"
/* char*: what may be lent to others (since 5.0) */
#define PMIX_ALLOC_LEND "pmix.alloc.lend"
/* bool: it may be shared (since 5.0) */
#define PMIX_ALLOC_SHARE "pmix.alloc.share"
/* bool: start no shell in it (since 5.0) */
#define PMIX_ALLOC_NOSHELL "pmix.alloc.noshell"
/* bool: wait until all nodes are ready (since 5.0) */
#define PMIX_ALLOC_WAIT_ALL_NODES "pmix.alloc.waitall"
/* bool: do not wait in the queue (since 6.1) */
#define PMIX_ALLOC_NOT_WAITING "pmix.alloc.notwait"
/* bool: it outlives the allocation that asked for it (since 5.0) */
#define PMIX_ALLOC_CHILD_SEP "pmix.alloc.sep"
/* pmix_data_array_t*: smallest unit that can be allocated (since 6.1) */
#define PMIX_ALLOC_MAU "pmix.alloc.mau"
/* char*: resource block wanted (since 6.1) */
#define PMIX_ALLOC_RES_BLOCK "pmix.alloc.blk"
/* uint64_t: how many of them (since 6.1) */
#define PMIX_ALLOC_NUM_BLOCKS "pmix.alloc.nblks"
/* char*: one property (since 7.0) */
#define PMIX_ALLOC_PROPERTY "pmix.alloc.property"
/* bool: all of the allocation may be given back (since 7.0) */
#define PMIX_ALLOC_RELEASABLE "pmix.alloc.releasable"
/* uint32_t: seconds before the end at which to warn (since 7.0) */
#define PMIX_ALLOC_WARN_TIMEOUT "pmix.alloc.wtmo"
/* pmix_status_t: what became of the request (since 7.0) */
#define PMIX_ALLOC_STATUS "pmix.alloc.status"
/* char*: namespace that the allocation is for (since 7.0) */
#define PMIX_ALLOC_TARGET "pmix.alloc.tgt"
/* pmix_alloc_inheritance_t: who has it afterwards (since 7.0) */
#define PMIX_ALLOC_INHERITANCE "pmix.alloc.inhrt"

/* PMIx_Session_control. */

/* char*: name of the request (since 5.0) */
#define PMIX_SESSION_CTRL_ID "pmix.ssnctrl.id"
/* pmix_data_array_t*: application to run in it (since 5.0) */
#define PMIX_SESSION_APP "pmix.ssn.app"
/* pmix_data_array_t*: job to run in it (since 6.1) */
#define PMIX_SESSION_JOB "pmix.ssn.job"
/* bool: start it (since 6.1) */
#define PMIX_SESSION_INSTANTIATE "pmix.ssn.inst"
/* pmix_data_array_t*: resources of it (since 6.1) */
#define PMIX_SESSION_RESOURCES "pmix.ssn.res"
/* bool: extend it (since 6.1) */
#define PMIX_SESSION_EXTEND "pmix.ssn.xtend"
/* bool: stop its processes (since 5.0) */
#define PMIX_SESSION_PAUSE "pmix.ssn.pause"
/* bool: let them go on (since 5.0) */
#define PMIX_SESSION_RESUME "pmix.ssn.resume"
/* bool: end it (since 5.0) */
#define PMIX_SESSION_TERMINATE "pmix.ssn.terminate"
/* bool: preempt it (since 5.0) */
#define PMIX_SESSION_PREEMPT "pmix.ssn.preempt"
/* bool: restore it after preemption (since 5.0) */
#define PMIX_SESSION_RESTORE "pmix.ssn.restore"
/* int: send a signal to its processes (since 5.0) */
#define PMIX_SESSION_SIGNAL "pmix.ssn.sig"
/* bool: it has ended (since 5.0) */
#define PMIX_SESSION_COMPLETE "pmix.ssn.complete"
/* pmix_data_array_t*: how to provision its nodes (since 5.0) */
#define PMIX_SESSION_PROVISION "pmix.ssn.pvn"
/* char*: which nodes (since 5.0) */
#define PMIX_SESSION_PROVISION_NODES "pmix.ssn.pvnnds"
/* char*: with which image (since 5.0) */
#define PMIX_SESSION_PROVISION_IMAGE "pmix.ssn.pvnimg"
/* bool: it outlives the session that asked for it (since 6.1) */
#define PMIX_SESSION_SEP "pmix.ssn.sep"

/* PMIx_Resource_block. */

/* char*: name of the block (since 6.1) */
#define PMIX_RESOURCE_BLOCK_NAME "pmix.resblkname"

/* Credentials. */

/* char*: types of credential allowed, comma-separated, or the type given */
#define PMIX_CRED_TYPE "pmix.sec.ctype"
/* pmix_byte_object_t: key for signing */
#define PMIX_CRYPTO_KEY "pmix.sec.key"

/* Devices. */

/* pmix_data_array_t*: distances of the process from its devices */
#define PMIX_DEVICE_DISTANCES "pmix.dev.dist"
/* pmix_device_type_t: types wanted */
#define PMIX_DEVICE_TYPE "pmix.dev.type"
/* char*: one device, system-wide or by the operating system's name */
#define PMIX_DEVICE_ID "pmix.dev.id"

/* Fabrics. */

/* pointer: cost of reaching each device from each, uint16_t[][] */
#define PMIX_FABRIC_COST_MATRIX "pmix.fab.cm"
/* char*: nodes by the switch they share */
#define PMIX_FABRIC_GROUPS "pmix.fab.grps"
/* char*: who made the fabric */
#define PMIX_FABRIC_VENDOR "pmix.fab.vndr"
/* char*: what it is called */
#define PMIX_FABRIC_IDENTIFIER "pmix.fab.id"
/* size_t: number of the fabric */
#define PMIX_FABRIC_INDEX "pmix.fab.idx"
/* size_t: its devices */
#define PMIX_FABRIC_NUM_DEVICES "pmix.fab.nverts"
/* pmix_data_array_t*: positions of the devices */
#define PMIX_FABRIC_COORDINATES "pmix.fab.coord"
/* uint32_t: its dimensions */
#define PMIX_FABRIC_DIMS "pmix.fab.dims"
/* pmix_data_array_t*: endpoints of the process */
#define PMIX_FABRIC_ENDPT "pmix.fab.endpt"
/* pmix_data_array_t*: size of each dimension */
#define PMIX_FABRIC_SHAPE "pmix.fab.shape"
/* char*: the same as text, "4x4x2" */
#define PMIX_FABRIC_SHAPE_STRING "pmix.fab.shapestr"
/* char*: a switch */
#define PMIX_FABRIC_SWITCH "pmix.fab.switch"
/* char*: a plane */
#define PMIX_FABRIC_PLANE "pmix.fab.plane"
/* pmix_data_array_t*: devices of a node */
#define PMIX_FABRIC_DEVICES "pmix.fab.devs"
/* pmix_data_array_t*: one device and its data */
#define PMIX_FABRIC_DEVICE "pmix.fabdev"
/* uint32_t: number of the device */
#define PMIX_FABRIC_DEVICE_INDEX "pmix.fabdev.idx"
/* char*: name in the operating system */
#define PMIX_FABRIC_DEVICE_NAME "pmix.fabdev.nm"
/* char*: who made it */
#define PMIX_FABRIC_DEVICE_VENDOR "pmix.fabdev.vndr"
/* char*: number of that maker */
#define PMIX_FABRIC_DEVICE_VENDORID "pmix.fabdev.vendid"
/* char*: bus it sits on */
#define PMIX_FABRIC_DEVICE_BUS_TYPE "pmix.fabdev.btyp"
/* char*: its place on the PCI bus */
#define PMIX_FABRIC_DEVICE_PCI_DEVID "pmix.fabdev.pcidevid"
/* char*: its driver */
#define PMIX_FABRIC_DEVICE_DRIVER "pmix.fabdev.driver"
/* char*: its firmware */
#define PMIX_FABRIC_DEVICE_FIRMWARE "pmix.fabdev.fmwr"
/* char*: its address */
#define PMIX_FABRIC_DEVICE_ADDRESS "pmix.fabdev.addr"
/* pmix_geometry_t: its positions */
#define PMIX_FABRIC_DEVICE_COORDINATES "pmix.fab.coord"
/* size_t: largest packet */
#define PMIX_FABRIC_DEVICE_MTU "pmix.fabdev.mtu"
/* size_t: bits a second */
#define PMIX_FABRIC_DEVICE_SPEED "pmix.fabdev.speed"
/* pmix_link_state_t: state of its link */
#define PMIX_FABRIC_DEVICE_STATE "pmix.fabdev.state"
/* char*: kind of device */
#define PMIX_FABRIC_DEVICE_TYPE "pmix.fabdev.type"
/* char*: peers on the same switch */
#define PMIX_SWITCH_PEERS "pmix.speers"

/* Storage systems. */

/* char*: query: storage systems, comma-separated */
#define PMIX_QUERY_STORAGE_LIST "pmix.strg.list"
/* char*: name of the system */
#define PMIX_STORAGE_ID "pmix.strg.id"
/* char*: kind of system, such as "lustre" */
#define PMIX_STORAGE_TYPE "pmix.strg.type"
/* char*: its version */
#define PMIX_STORAGE_VERSION "pmix.strg.ver"
/* char*: where it is mounted */
#define PMIX_STORAGE_PATH "pmix.strg.path"
/* pmix_storage_medium_t: what it keeps data on */
#define PMIX_STORAGE_MEDIUM "pmix.strg.medium"
/* pmix_storage_accessibility_t: from where it can be reached */
#define PMIX_STORAGE_ACCESSIBILITY "pmix.strg.access"
/* pmix_storage_persistence_t: how long it keeps data */
#define PMIX_STORAGE_PERSISTENCE "pmix.strg.persist"
/* pmix_storage_access_type_t: reading, writing or both */
#define PMIX_STORAGE_ACCESS_TYPE "pmix.strg.atype"
/* uint64_t: megabytes it can hold */
#define PMIX_STORAGE_CAPACITY_LIMIT "pmix.strg.cap"
/* double: megabytes it holds */
#define PMIX_STORAGE_CAPACITY_USED "pmix.strg.capuse"
/* uint64_t: objects it can hold */
#define PMIX_STORAGE_OBJECT_LIMIT "pmix.strg.obj"
/* uint64_t: objects it holds */
#define PMIX_STORAGE_OBJECTS_USED "pmix.strg.objuse"
/* double: smallest transfer, in kilobytes */
#define PMIX_STORAGE_MINIMAL_XFER_SIZE "pmix.strg.minxfer"
/* double: best transfer, in kilobytes */
#define PMIX_STORAGE_SUGGESTED_XFER_SIZE "pmix.strg.sxfer"
/* double: bandwidth in use */
#define PMIX_STORAGE_BW_CUR "pmix.strg.bwcur"
/* double: bandwidth it has */
#define PMIX_STORAGE_BW_MAX "pmix.strg.bwmax"
/* double: operations a second in use */
#define PMIX_STORAGE_IOPS_CUR "pmix.strg.iopscur"
/* double: operations a second it can do */
#define PMIX_STORAGE_IOPS_MAX "pmix.strg.iopsmax"

/* Environment variables. These are names of variables, not keys. */

/* char*: descriptor whose end tells a child that its parent is gone */
#define PMIX_KEEPALIVE_PIPE "PMIX_KEEPALIVE_PIPE"
/* char*: address a launcher shall connect to */
#define PMIX_LAUNCHER_RNDZ_URI "PMIX_LAUNCHER_RNDZ_URI"
/* char*: file a launcher shall write its address to */
#define PMIX_LAUNCHER_RNDZ_FILE "PMIX_LAUNCHER_RNDZ_FILE"

/* ---- Plain structures ------------------------------------------------------------------------
 *
 * Every member that is a pointer owns a block of the C library's allocator, unless a comment
 * says otherwise; the *_destruct functions below release what a structure owns. */

/* One process: namespace and rank. */
typedef struct pmix_proc {
    pmix_nspace_t nspace;
    pmix_rank_t rank;
} pmix_proc_t;

/* A counted run of bytes. */
typedef struct pmix_byte_object {
    char *bytes;
    size_t size;
} pmix_byte_object_t;

/* A buffer for PMIx_Data_pack and PMIx_Data_unpack: pack_ptr is where the next datum goes,
 * unpack_ptr where the next one is read. */
typedef struct pmix_data_buffer {
    char *base_ptr;
    char *pack_ptr;
    char *unpack_ptr;
    size_t bytes_allocated;
    size_t bytes_used;
} pmix_data_buffer_t;

/* An environment variable and how to join its value to an existing one. */
typedef struct {
    char *envar;
    char *value;
    char separator;             /* used when prepending or appending */
} pmix_envar_t;

/* `size` elements of `type` in one block. */
typedef struct pmix_data_array {
    pmix_data_type_t type;
    size_t size;
    void *array;
} pmix_data_array_t;

/* What a resource manager knows of one process. */
typedef struct pmix_proc_info {
    pmix_proc_t proc;
    char *hostname;
    char *executable_name;
    pid_t pid;
    int exit_code;
    pmix_proc_state_t state;
} pmix_proc_info_t;

/* ---- Topology and fabric --------------------------------------------------------------------- */

/* A set of processing units; source names who made the bitmap (for instance "hwloc"). */
typedef struct {
    char *source;
    void *bitmap;
} pmix_cpuset_t;

/* A description of the node's hardware; source as for pmix_cpuset_t. */
typedef struct {
    char *source;
    void *topology;
} pmix_topology_t;

/* A position in a fabric of `dims` dimensions. */
typedef struct pmix_coord {
    pmix_coord_view_t view;
    uint32_t *coord;
    size_t dims;
} pmix_coord_t;

/* The positions of one device in one fabric. */
typedef struct pmix_geometry {
    size_t fabric;              /* index of the fabric */
    char *uuid;                 /* the device, system-wide */
    char *osname;               /* its name in the operating system */
    pmix_coord_t *coordinates;
    size_t ncoords;
} pmix_geometry_t;

/* How far a device is from the place a process is bound to; smaller is nearer. */
typedef struct pmix_device_distance {
    char *uuid;
    char *osname;
    pmix_device_type_t type;
    uint16_t mindist;           /* UINT16_MAX: unknown */
    uint16_t maxdist;
} pmix_device_distance_t;

/* The address of a process on one device. */
typedef struct pmix_endpoint {
    char *uuid;
    char *osname;
    pmix_byte_object_t endpt;
} pmix_endpoint_t;

/* A device by itself (since 6.0). */
typedef struct pmix_device {
    char *uuid;
    char *osname;
    pmix_device_type_t type;
} pmix_device_t;

/* A number of devices of one type (since 6.0). */
typedef struct pmix_resource_unit {
    pmix_device_type_t type;
    size_t count;
} pmix_resource_unit_t;

/* A process by node and process identifier (since 6.1). */
typedef struct pmix_node_pid {
    char *hostname;
    uint32_t nodeid;
    pid_t pid;
} pmix_node_pid_t;

/* A list, written shorter by some method (since 7.0). */
typedef struct pmix_regex2 {
    char *type;     /* the method's name */
    uint8_t *bytes; /* what it wrote, which may lack a NUL */
    size_t len;
} pmix_regex2_t;

/* ---- Statistics (in 4.x and 5.0; 6.1 carries the same data as arrays of pmix_info_t) --------- */

/* One process; memory in megabytes, time is the processor time used. */
typedef struct pmix_proc_stats {
    char *node;
    pmix_proc_t proc;
    pid_t pid;
    char *cmd;
    char state;                 /* the operating system's letter: R, S, Z ... */
    struct timeval time;
    float percent_cpu;
    int32_t priority;
    uint16_t num_threads;
    float pss;
    float vsize;
    float rss;
    float peak_vsize;
    uint16_t processor;
    struct timeval sample_time;
} pmix_proc_stats_t;

/* One disk, counted since boot. */
typedef struct {
    char *disk;
    uint64_t num_reads_completed;
    uint64_t num_reads_merged;
    uint64_t num_sectors_read;
    uint64_t milliseconds_reading;
    uint64_t num_writes_completed;
    uint64_t num_writes_merged;
    uint64_t num_sectors_written;
    uint64_t milliseconds_writing;
    uint64_t num_ios_in_progress;
    uint64_t milliseconds_io;
    uint64_t weighted_milliseconds_io;
} pmix_disk_stats_t;

/* One network interface, counted since boot. */
typedef struct {
    char *net_interface;
    uint64_t num_bytes_recvd;
    uint64_t num_packets_recvd;
    uint64_t num_recv_errs;
    uint64_t num_bytes_sent;
    uint64_t num_packets_sent;
    uint64_t num_send_errs;
} pmix_net_stats_t;

/* One node: load averages over 1, 5 and 15 minutes, memory in megabytes. */
typedef struct {
    char *node;
    float la;
    float la5;
    float la15;
    float total_mem;
    float free_mem;
    float buffers;
    float cached;
    float swap_cached;
    float swap_total;
    float swap_free;
    float mapped;
    struct timeval sample_time;
    pmix_disk_stats_t *diskstats;
    size_t ndiskstats;
    pmix_net_stats_t *netstats;
    size_t nnetstats;
} pmix_node_stats_t;

/* ---- Values, and what is built of them ------------------------------------------------------- */

/* One typed datum; `type` says which member of the union counts.  Members of pointer type own
 * what they point to, except ptr.  32 bytes, whatever is added to the union. */
typedef struct pmix_value {
    pmix_data_type_t type;
    union {
        bool flag;
        uint8_t byte;
        char *string;
        size_t size;
        pid_t pid;
        int integer;
        int8_t int8;
        int16_t int16;
        int32_t int32;
        int64_t int64;
        unsigned int uint;
        uint8_t uint8;
        uint16_t uint16;
        uint32_t uint32;
        uint64_t uint64;
        float fval;
        double dval;
        struct timeval tv;
        time_t time;
        pmix_status_t status;
        pmix_rank_t rank;
        pmix_nspace_t *nspace;
        pmix_proc_t *proc;
        pmix_byte_object_t bo;              /* also PMIX_REGEX and the compressed types */
        pmix_persistence_t persist;
        pmix_scope_t scope;
        pmix_data_range_t range;
        pmix_proc_state_t state;
        pmix_proc_info_t *pinfo;
        pmix_data_array_t *darray;
        void *ptr;                          /* borrowed, never freed */
        pmix_alloc_directive_t adir;
        pmix_envar_t envar;
        pmix_coord_t *coord;
        pmix_link_state_t linkstate;
        pmix_job_state_t jstate;
        pmix_topology_t *topo;
        pmix_cpuset_t *cpuset;
        pmix_locality_t locality;
        pmix_geometry_t *geometry;
        pmix_device_type_t devtype;
        pmix_device_distance_t *devdist;
        pmix_endpoint_t *endpoint;
        pmix_data_buffer_t *dbuf;
        pmix_proc_stats_t *pstats;
        pmix_disk_stats_t *dkstats;
        pmix_net_stats_t *netstats;
        pmix_node_stats_t *ndstats;
        pmix_resource_block_directive_t rbdir;
        pmix_device_t *device;
        pmix_resource_unit_t *resunit;
        pmix_node_pid_t *nodepid;
        pmix_regex2_t *regex2;
        pmix_alloc_inheritance_t inheritance;
    } data;
} pmix_value_t;

/* A named value: a directive, a piece of job data, a result. */
typedef struct pmix_info {
    pmix_key_t key;
    pmix_info_directives_t flags;
    pmix_value_t value;
} pmix_info_t;

/* What PMIx_Lookup returns: a named value and the process that published it. */
typedef struct pmix_pdata {
    pmix_proc_t proc;
    pmix_key_t key;
    pmix_value_t value;
} pmix_pdata_t;

/* One application of a spawn request. */
typedef struct pmix_app {
    char *cmd;
    char **argv;                /* NULL-ended, as is env */
    char **env;
    char *cwd;
    int maxprocs;
    pmix_info_t *info;
    size_t ninfo;
} pmix_app_t;

/* One query: the keys asked for and what narrows them down. */
typedef struct pmix_query {
    char **keys;                /* NULL-ended */
    pmix_info_t *qualifiers;
    size_t nqual;
} pmix_query_t;

/* The description of an attribute that some function supports. */
typedef struct pmix_regattr_t {
    char *name;                 /* "PMIX_TIMEOUT" */
    pmix_key_t string;          /* "pmix.timeout" */
    pmix_data_type_t type;
    char **description;         /* NULL-ended lines */
} pmix_regattr_t;

/* A fabric that PMIx_Fabric_register has found; module belongs to the library. */
typedef struct pmix_fabric_s {
    char *name;
    size_t index;
    pmix_info_t *info;
    size_t ninfo;
    void *module;
} pmix_fabric_t;

/* ---- Callbacks ------------------------------------------------------------------------------- */

/* The library calls these on its progress thread (in a server: on its loop thread); unless said
 * otherwise, what they are handed stays the library's and is valid until they return. */

/* Tells the giver of some data that they are no longer needed. */
typedef void (*pmix_release_cbfunc_t)(void *cbdata);

/* Result of a data exchange. @release_fn, when not NULL, is called once @data have been used. */
typedef void (*pmix_modex_cbfunc_t)(pmix_status_t status, const char *data, size_t ndata,
    void *cbdata, pmix_release_cbfunc_t release_fn, void *release_cbdata);

/* Result of a spawn: the namespace of the new job. */
typedef void (*pmix_spawn_cbfunc_t)(pmix_status_t status, pmix_nspace_t nspace, void *cbdata);

/* Result of an operation that has none but its status. */
typedef void (*pmix_op_cbfunc_t)(pmix_status_t status, void *cbdata);

/* Result of a lookup. */
typedef void (*pmix_lookup_cbfunc_t)(pmix_status_t status, pmix_pdata_t *data, size_t ndata,
    void *cbdata);

/* What an event handler calls, exactly once, when it has done its work: its status, results for
 * the handlers after it, and a function that tells it when those are no longer needed. */
typedef void (*pmix_event_notification_cbfunc_fn_t)(pmix_status_t status, pmix_info_t *results,
    size_t nresults, pmix_op_cbfunc_t cbfunc, void *thiscbdata, void *notification_cbdata);

/* An event handler. @info describes the event, @results what earlier handlers said; it must call
 * @cbfunc with @cbdata, from any thread. */
typedef void (*pmix_notification_fn_t)(size_t evhdlr_registration_id, pmix_status_t status,
    const pmix_proc_t *source, pmix_info_t *info, size_t ninfo, pmix_info_t *results,
    size_t nresults, pmix_event_notification_cbfunc_fn_t cbfunc, void *cbdata);

/* Result of registering a handler: the number by which it is known. */
typedef void (*pmix_hdlr_reg_cbfunc_t)(pmix_status_t status, size_t refid, void *cbdata);

/* Result of PMIx_Get_nb. */
typedef void (*pmix_value_cbfunc_t)(pmix_status_t status, pmix_value_t *kv, void *cbdata);

/* Result of a request that gives an array; @release_fn, when not NULL, is to be called once it
 * has been used. */
typedef void (*pmix_info_cbfunc_t)(pmix_status_t status, pmix_info_t *info, size_t ninfo,
    void *cbdata, pmix_release_cbfunc_t release_fn, void *release_cbdata);

/* Result of PMIx_Get_credential_nb. */
typedef void (*pmix_credential_cbfunc_t)(pmix_status_t status, pmix_byte_object_t *credential,
    pmix_info_t *info, size_t ninfo, void *cbdata);

/* Result of PMIx_Validate_credential_nb. */
typedef void (*pmix_validation_cbfunc_t)(pmix_status_t status, pmix_info_t *info, size_t ninfo,
    void *cbdata);

/* Result of PMIx_Compute_distances_nb. */
typedef void (*pmix_device_dist_cbfunc_t)(pmix_status_t status, pmix_device_distance_t *dist,
    size_t ndist, void *cbdata, pmix_release_cbfunc_t release_fn, void *release_cbdata);

/* ---- Memory and short strings ---------------------------------------------------------------- */

/* The C library's allocator under the names that code for PMIx uses. */
static inline void *pmix_malloc(size_t n)
{
    return malloc(n);
}

static inline void *pmix_calloc(size_t n, size_t m)
{
    return calloc(n, m);
}

static inline void pmix_free(void *m)
{
    free(m);
}

/* Length of a namespace or key that may lack its NUL: never more than one beyond the limit,
 * 0 for NULL. */
static inline size_t pmix_nslen(const char *src)
{
    size_t n = 0;

    while (src != NULL && n <= PMIX_MAX_NSLEN && src[n] != '\0') {
        n++;
    }
    return n;
}

static inline size_t pmix_keylen(const char *src)
{
    size_t n = 0;

    while (src != NULL && n <= PMIX_MAX_KEYLEN && src[n] != '\0') {
        n++;
    }
    return n;
}

/* Copy at most @len characters of @src and a NUL; @dest has room for len + 1. */
static inline void pmix_strncpy(char *dest, const char *src, size_t len)
{
    size_t n = 0;

    for (; n < len && src[n] != '\0'; n++) {
        dest[n] = src[n];
    }
    dest[n] = '\0';
}

/* ---- Data helpers ---------------------------------------------------------------------------- */

/* Each structure has the same family of functions:
 *    construct  make it empty; it owns nothing
 *    destruct   release what it owns and make it empty; the structure itself stays
 *    create     n empty structures in one block, or NULL when n is 0 or memory runs out
 *    free       destruct n structures and release their block; NULL is allowed
 *    release    free of exactly one
 * The macros of the same names do the same on any libpmix from 4.2.2 on, which lacks most of the
 * functions (pmix_inline.h). Macros that free also set the variable to NULL. An X_STATIC_INIT is the
 * empty structure as an initialiser. */

/* Keys, namespaces and process identifiers. Loading cuts at the limit and always ends with a
 * NUL; a NULL source gives the empty string. */
#define PMIX_PROC_STATIC_INIT { { 0 }, PMIX_RANK_UNDEF }
PMIX_EXPORT void PMIx_Proc_construct(pmix_proc_t *p);
PMIX_EXPORT void PMIx_Proc_destruct(pmix_proc_t *p);
PMIX_EXPORT pmix_proc_t *PMIx_Proc_create(size_t n);
PMIX_EXPORT void PMIx_Proc_free(pmix_proc_t *p, size_t n);
PMIX_EXPORT void PMIx_Proc_load(pmix_proc_t *p, const char *nspace, pmix_rank_t rank);
PMIX_EXPORT void PMIx_Load_key(pmix_key_t key, const char *src);
PMIX_EXPORT void PMIx_Load_nspace(pmix_nspace_t nspace, const char *str);
PMIX_EXPORT void PMIx_Load_procid(pmix_proc_t *p, const char *nspace, pmix_rank_t rank);
PMIX_EXPORT void PMIx_Xfer_procid(pmix_proc_t *a, const pmix_proc_t *b);
#define PMIX_PROC_CONSTRUCT(m) pmix_proc_construct_(m)
#define PMIX_PROC_DESTRUCT(m) pmix_proc_construct_(m)
#define PMIX_PROC_CREATE(m, n) do { (m) = pmix_proc_create_(n); } while (0)
#define PMIX_PROC_FREE(m, n) do { free(m); (m) = NULL; (void)(n); } while (0)
#define PMIX_PROC_RELEASE(m) do { free(m); (m) = NULL; } while (0)
#define PMIX_PROC_LOAD(m, n, r) pmix_proc_load_(m, n, r)
#define PMIX_LOAD_KEY(a, b) pmix_load_key_(a, b)
#define PMIX_LOAD_NSPACE(a, b) pmix_load_nspace_(a, b)
#define PMIX_LOAD_PROCID(a, b, c) pmix_proc_load_(a, b, c)
#define PMIX_XFER_PROCID(a, b) pmix_procid_xfer_(a, b)
#define PMIX_PROCID_XFER(a, b) pmix_procid_xfer_(a, b)

/* Comparisons. An empty or NULL namespace matches every namespace, PMIX_RANK_WILDCARD every
 * rank. A reserved key begins with "pmix"; a valid rank lies below PMIX_RANK_VALID. */
PMIX_EXPORT bool PMIx_Check_key(const char *key, const char *str);
PMIX_EXPORT bool PMIx_Check_nspace(const char *a, const char *b);
PMIX_EXPORT bool PMIx_Check_rank(pmix_rank_t a, pmix_rank_t b);
PMIX_EXPORT bool PMIx_Check_procid(const pmix_proc_t *a, const pmix_proc_t *b);
PMIX_EXPORT bool PMIx_Check_reserved_key(const char *key);
PMIX_EXPORT bool PMIx_Nspace_invalid(const char *nspace);
PMIX_EXPORT bool PMIx_Procid_invalid(const pmix_proc_t *p);
PMIX_EXPORT bool PMIx_Rank_valid(pmix_rank_t a);
#define PMIX_CHECK_KEY(a, b) pmix_check_key_((a)->key, b)
#define PMIX_CHECK_NSPACE(a, b) pmix_check_nspace_(a, b)
#define PMIX_CHECK_RANK(a, b) pmix_check_rank_(a, b)
#define PMIX_CHECK_PROCID(a, b) pmix_check_procid_(a, b)
#define PMIX_CHECK_RESERVED_KEY(a) pmix_check_reserved_key_(a)
#define PMIX_NSPACE_INVALID(a) pmix_nspace_invalid_(a)
#define PMIX_PROCID_INVALID(a) pmix_procid_invalid_(a)
#define PMIX_RANK_IS_VALID(r) ((r) < PMIX_RANK_VALID)

/* Namespaces of several clusters: @m is cluster @a, a colon, and namespace @b. Construct leaves
 * @m empty when it would not fit. */
PMIX_EXPORT void PMIx_Multicluster_nspace_construct(pmix_nspace_t m, pmix_nspace_t a,
    pmix_nspace_t b);
PMIX_EXPORT void PMIx_Multicluster_nspace_parse(pmix_nspace_t m, pmix_nspace_t a, pmix_nspace_t b);
#define PMIX_MULTICLUSTER_NSPACE_CONSTRUCT(t, c, n) pmix_multicluster_construct_(t, c, n)
#define PMIX_MULTICLUSTER_NSPACE_PARSE(t, c, n) pmix_multicluster_parse_(t, c, n)

/* Values. Load copies @data of @type (a scalar is passed by its address, a string as char *;
 * NULL means true for PMIX_BOOL, otherwise zero or NULL); PMIX_POINTER, PMIX_TOPO and
 * PMIX_PROC_CPUSET keep the pointer itself. Unload hands the datum out: a scalar goes to *data,
 * which the caller provides or, when NULL, receives; what a pointer holds becomes the caller's.
 * Xfer copies deeply. */
#define PMIX_VALUE_STATIC_INIT { PMIX_UNDEF, { 0 } }
PMIX_EXPORT void PMIx_Value_construct(pmix_value_t *p);
PMIX_EXPORT void PMIx_Value_destruct(pmix_value_t *p);
PMIX_EXPORT pmix_value_t *PMIx_Value_create(size_t n);
PMIX_EXPORT void PMIx_Value_free(pmix_value_t *p, size_t n);
PMIX_EXPORT pmix_status_t PMIx_Value_load(pmix_value_t *val, const void *data,
    pmix_data_type_t type);
PMIX_EXPORT pmix_status_t PMIx_Value_unload(pmix_value_t *val, void **data, size_t *sz);
PMIX_EXPORT pmix_status_t PMIx_Value_xfer(pmix_value_t *dest, const pmix_value_t *src);
PMIX_EXPORT pmix_value_cmp_t PMIx_Value_compare(pmix_value_t *v1, pmix_value_t *v2);
PMIX_EXPORT pmix_boolean_t PMIx_Value_true(const pmix_value_t *value);
PMIX_EXPORT pmix_status_t PMIx_Value_get_number(const pmix_value_t *m, void *d, pmix_data_type_t t);
PMIX_EXPORT pmix_status_t PMIx_Value_get_size(const pmix_value_t *val, size_t *size);
#define PMIX_VALUE_CONSTRUCT(m) pmix_value_construct_(m)
#define PMIX_VALUE_DESTRUCT(m) PMIx_Value_destruct(m)
#define PMIX_VALUE_CREATE(m, n) do { (m) = pmix_value_create_(n); } while (0)
#define PMIX_VALUE_FREE(m, n) do { pmix_value_free_((m), (n)); (m) = NULL; } while (0)
#define PMIX_VALUE_RELEASE(m) do { pmix_value_free_((m), 1); (m) = NULL; } while (0)
#define PMIX_VALUE_LOAD(v, d, t) PMIx_Value_load(v, d, t)
#define PMIX_VALUE_UNLOAD(r, k, d, s) do { (r) = PMIx_Value_unload(k, (void **)(d), s); } while (0)
#define PMIX_VALUE_XFER(r, v, s) \
    do { \
        (r) = pmix_value_xfer_(&(v), s); \
    } while (0)
#define PMIX_VALUE_XFER_DIRECT(r, v, s) do { (r) = PMIx_Value_xfer(v, s); } while (0)
#define PMIX_CHECK_BOOL(a) (pmix_value_true_(a) != PMIX_NON_BOOL)
#define PMIX_CHECK_TRUE(a) (pmix_value_true_(a) == PMIX_BOOL_TRUE)

/* Read number @m into variable @n of C type @t (a type's name); @s becomes PMIX_SUCCESS, or
 * PMIX_ERR_BAD_PARAM when the value is no number.  The number is converted as C converts it. */
#define PMIX_VALUE_GET_NUMBER(s, m, n, t) \
    do { \
        const pmix_value_t *const pmix_number_ = (m); \
        (s) = PMIX_SUCCESS; \
        switch (pmix_number_->type) { \
        case PMIX_SIZE: \
            (n) = (t)pmix_number_->data.size; \
            break; \
        case PMIX_INT: \
            (n) = (t)pmix_number_->data.integer; \
            break; \
        case PMIX_INT8: \
            (n) = (t)pmix_number_->data.int8; \
            break; \
        case PMIX_INT16: \
            (n) = (t)pmix_number_->data.int16; \
            break; \
        case PMIX_INT32: \
            (n) = (t)pmix_number_->data.int32; \
            break; \
        case PMIX_INT64: \
            (n) = (t)pmix_number_->data.int64; \
            break; \
        case PMIX_UINT: \
            (n) = (t)pmix_number_->data.uint; \
            break; \
        case PMIX_UINT8: \
            (n) = (t)pmix_number_->data.uint8; \
            break; \
        case PMIX_UINT16: \
            (n) = (t)pmix_number_->data.uint16; \
            break; \
        case PMIX_UINT32: \
            (n) = (t)pmix_number_->data.uint32; \
            break; \
        case PMIX_UINT64: \
            (n) = (t)pmix_number_->data.uint64; \
            break; \
        case PMIX_FLOAT: \
            (n) = (t)pmix_number_->data.fval; \
            break; \
        case PMIX_DOUBLE: \
            (n) = (t)pmix_number_->data.dval; \
            break; \
        case PMIX_PID: \
            (n) = (t)pmix_number_->data.pid; \
            break; \
        case PMIX_PROC_RANK: \
            (n) = (t)pmix_number_->data.rank; \
            break; \
        case PMIX_STATUS: \
            (n) = (t)pmix_number_->data.status; \
            break; \
        default: \
            (s) = PMIX_ERR_BAD_PARAM; \
            break; \
        } \
    } while (0)

/* Info elements. A required directive that cannot be honoured makes the call fail; an optional
 * one is passed over. A persistent element does not own its value. As a flag, an untyped element
 * is true, and strings such as "yes" or "0" are read. */
#define PMIX_INFO_STATIC_INIT { { 0 }, 0, PMIX_VALUE_STATIC_INIT }
PMIX_EXPORT void PMIx_Info_construct(pmix_info_t *p);
PMIX_EXPORT void PMIx_Info_destruct(pmix_info_t *p);
PMIX_EXPORT pmix_info_t *PMIx_Info_create(size_t n);
PMIX_EXPORT void PMIx_Info_free(pmix_info_t *p, size_t n);
PMIX_EXPORT pmix_status_t PMIx_Info_load(pmix_info_t *info, const char *key, const void *data,
    pmix_data_type_t type);
PMIX_EXPORT pmix_status_t PMIx_Info_xfer(pmix_info_t *dest, const pmix_info_t *src);
PMIX_EXPORT void PMIx_Info_required(pmix_info_t *info);
PMIX_EXPORT void PMIx_Info_optional(pmix_info_t *info);
PMIX_EXPORT void PMIx_Info_processed(pmix_info_t *info);
PMIX_EXPORT void PMIx_Info_set_end(pmix_info_t *info);
PMIX_EXPORT void PMIx_Info_qualifier(pmix_info_t *info);
PMIX_EXPORT void PMIx_Info_persistent(pmix_info_t *info);
PMIX_EXPORT bool PMIx_Info_is_required(const pmix_info_t *info);
PMIX_EXPORT bool PMIx_Info_is_optional(const pmix_info_t *info);
PMIX_EXPORT bool PMIx_Info_was_processed(const pmix_info_t *info);
PMIX_EXPORT bool PMIx_Info_is_end(const pmix_info_t *info);
PMIX_EXPORT bool PMIx_Info_is_qualifier(const pmix_info_t *info);
PMIX_EXPORT bool PMIx_Info_is_persistent(const pmix_info_t *info);
PMIX_EXPORT pmix_boolean_t PMIx_Info_true(const pmix_info_t *p);
PMIX_EXPORT pmix_status_t PMIx_Info_get_size(const pmix_info_t *info, size_t *size);
#define PMIX_INFO_CONSTRUCT(m) pmix_info_construct_(m)
#define PMIX_INFO_DESTRUCT(m) pmix_info_destruct_(m)
#define PMIX_INFO_CREATE(m, n) do { (m) = pmix_info_create_(n); } while (0)
#define PMIX_INFO_FREE(m, n) do { pmix_info_free_((m), (n)); (m) = NULL; } while (0)
#define PMIX_INFO_LOAD(i, k, d, t) do { (void)PMIx_Info_load(i, k, d, t); } while (0)
#define PMIX_INFO_XFER(d, s) do { (void)PMIx_Info_xfer(d, s); } while (0)
#define PMIX_INFO_REQUIRED(m) pmix_info_set_(m, PMIX_INFO_REQD)
#define PMIX_INFO_OPTIONAL(m) pmix_info_optional_(m)
#define PMIX_INFO_PROCESSED(m) pmix_info_set_(m, PMIX_INFO_REQD_PROCESSED)
#define PMIX_INFO_SET_END(m) pmix_info_set_(m, PMIX_INFO_ARRAY_END)
#define PMIX_INFO_SET_QUALIFIER(i) pmix_info_set_(i, PMIX_INFO_QUALIFIER)
#define PMIX_INFO_SET_PERSISTENT(ii) pmix_info_set_(ii, PMIX_INFO_PERSISTENT)
#define PMIX_INFO_IS_REQUIRED(m) pmix_info_is_(m, PMIX_INFO_REQD)
#define PMIX_INFO_IS_OPTIONAL(m) pmix_info_is_optional_(m)
#define PMIX_INFO_WAS_PROCESSED(m) pmix_info_is_(m, PMIX_INFO_REQD_PROCESSED)
#define PMIX_INFO_IS_END(m) pmix_info_is_(m, PMIX_INFO_ARRAY_END)
#define PMIX_INFO_IS_QUALIFIER(i) pmix_info_is_(i, PMIX_INFO_QUALIFIER)
#define PMIX_INFO_IS_PERSISTENT(ii) pmix_info_is_(ii, PMIX_INFO_PERSISTENT)
#define PMIX_INFO_TRUE(m) (pmix_info_true_(m) == PMIX_BOOL_TRUE)

/* Growing lists of info elements; @ptr is what PMIx_Info_list_start returned. Convert copies the
 * list into the array header @par (PMIX_ERR_EMPTY when there is nothing); the list stays and
 * must be released. Insert links the caller's element without copying its value. The *_unique
 * forms replace an element of the same key when @overwrite is true and leave it otherwise.
 * get_info walks: @curr NULL starts, *next is NULL after the last. */
PMIX_EXPORT pmix_status_t PMIx_Info_list_add(void *ptr, const char *key, const void *value,
    pmix_data_type_t type);
PMIX_EXPORT pmix_status_t PMIx_Info_list_convert(void *ptr, pmix_data_array_t *par);
PMIX_EXPORT pmix_status_t PMIx_Info_list_insert(void *ptr, pmix_info_t *info);
PMIX_EXPORT void PMIx_Info_list_release(void *ptr);
PMIX_EXPORT void *PMIx_Info_list_start(void);
PMIX_EXPORT pmix_status_t PMIx_Info_list_xfer(void *ptr, const pmix_info_t *src);
PMIX_EXPORT pmix_info_t *PMIx_Info_list_get_info(void *ptr, void *curr, void **next);
PMIX_EXPORT pmix_status_t PMIx_Info_list_prepend(void *ptr, const char *key, const void *value,
    pmix_data_type_t type);
PMIX_EXPORT pmix_status_t PMIx_Info_list_add_unique(void *ptr, const char *key, const void *value,
    pmix_data_type_t type, bool overwrite);
PMIX_EXPORT pmix_status_t PMIx_Info_list_add_value(void *ptr, const char *key,
    const pmix_value_t *value);
PMIX_EXPORT pmix_status_t PMIx_Info_list_add_value_unique(void *ptr, const char *key,
    const pmix_value_t *value, bool overwrite);
PMIX_EXPORT pmix_status_t PMIx_Info_list_xfer_unique(void *ptr, const pmix_info_t *src,
    bool overwrite);
PMIX_EXPORT size_t PMIx_Info_list_get_size(void *ptr);
#define PMIX_INFO_LIST_START(p) do { (p) = PMIx_Info_list_start(); } while (0)
#define PMIX_INFO_LIST_RELEASE(p) do { PMIx_Info_list_release(p); } while (0)
#define PMIX_INFO_LIST_ADD(r, p, a, v, t) do { (r) = PMIx_Info_list_add(p, a, v, t); } while (0)
#define PMIX_INFO_LIST_PREPEND(r, p, a, v, t) \
    do { \
        (r) = PMIx_Info_list_prepend(p, a, v, t); \
    } while (0)
#define PMIX_INFO_LIST_INSERT(r, p, i) do { (r) = PMIx_Info_list_insert(p, i); } while (0)
#define PMIX_INFO_LIST_XFER(r, p, a) do { (r) = PMIx_Info_list_xfer(p, a); } while (0)
#define PMIX_INFO_LIST_CONVERT(r, p, m) do { (r) = PMIx_Info_list_convert(p, m); } while (0)

/* Lookup results. */
#define PMIX_LOOKUP_STATIC_INIT { PMIX_PROC_STATIC_INIT, { 0 }, PMIX_VALUE_STATIC_INIT }
PMIX_EXPORT void PMIx_Pdata_construct(pmix_pdata_t *p);
PMIX_EXPORT void PMIx_Pdata_destruct(pmix_pdata_t *p);
PMIX_EXPORT pmix_pdata_t *PMIx_Pdata_create(size_t n);
PMIX_EXPORT void PMIx_Pdata_free(pmix_pdata_t *p, size_t n);
PMIX_EXPORT void PMIx_Pdata_load(pmix_pdata_t *dest, const pmix_proc_t *proc, const char *key,
    const void *data, pmix_data_type_t type);
PMIX_EXPORT void PMIx_Pdata_xfer(pmix_pdata_t *dest, pmix_pdata_t *src);
#define PMIX_PDATA_CONSTRUCT(m) pmix_pdata_construct_(m)
#define PMIX_PDATA_DESTRUCT(m) pmix_pdata_destruct_(m)
#define PMIX_PDATA_CREATE(m, n) do { (m) = pmix_pdata_create_(n); } while (0)
#define PMIX_PDATA_FREE(m, n) do { pmix_pdata_free_((m), (n)); (m) = NULL; } while (0)
#define PMIX_PDATA_RELEASE(m) do { pmix_pdata_free_((m), 1); (m) = NULL; } while (0)
#define PMIX_PDATA_LOAD(m, p, k, v, t) pmix_pdata_load_(m, p, k, v, t)
#define PMIX_PDATA_XFER(d, s) pmix_pdata_xfer_(d, s)

/* Applications. Destruct releases argv, env and info as well; info_create sets info and ninfo. */
#define PMIX_APP_STATIC_INIT { NULL, NULL, NULL, NULL, 0, NULL, 0 }
PMIX_EXPORT void PMIx_App_construct(pmix_app_t *m);
PMIX_EXPORT void PMIx_App_destruct(pmix_app_t *m);
PMIX_EXPORT pmix_app_t *PMIx_App_create(size_t n);
PMIX_EXPORT void PMIx_App_free(pmix_app_t *m, size_t n);
PMIX_EXPORT void PMIx_App_release(pmix_app_t *m);
PMIX_EXPORT void PMIx_App_info_create(pmix_app_t *m, size_t n);
#define PMIX_APP_CONSTRUCT(m) pmix_app_construct_(m)
#define PMIX_APP_DESTRUCT(m) pmix_app_destruct_(m)
#define PMIX_APP_CREATE(m, n) do { (m) = pmix_app_create_(n); } while (0)
#define PMIX_APP_FREE(m, n) do { pmix_app_free_((m), (n)); (m) = NULL; } while (0)
#define PMIX_APP_RELEASE(m) do { pmix_app_free_((m), 1); (m) = NULL; } while (0)
#define PMIX_APP_INFO_CREATE(m, n) pmix_app_info_create_(m, n)

/* Queries. qualifiers_create sets qualifiers and nqual. */
#define PMIX_QUERY_STATIC_INIT { NULL, NULL, 0 }
PMIX_EXPORT void PMIx_Query_construct(pmix_query_t *p);
PMIX_EXPORT void PMIx_Query_destruct(pmix_query_t *p);
PMIX_EXPORT pmix_query_t *PMIx_Query_create(size_t n);
PMIX_EXPORT void PMIx_Query_free(pmix_query_t *p, size_t n);
PMIX_EXPORT void PMIx_Query_release(pmix_query_t *p);
PMIX_EXPORT void PMIx_Query_qualifiers_create(pmix_query_t *p, size_t n);
#define PMIX_QUERY_CONSTRUCT(m) pmix_query_construct_(m)
#define PMIX_QUERY_DESTRUCT(m) pmix_query_destruct_(m)
#define PMIX_QUERY_CREATE(m, n) do { (m) = pmix_query_create_(n); } while (0)
#define PMIX_QUERY_FREE(m, n) do { pmix_query_free_((m), (n)); (m) = NULL; } while (0)
#define PMIX_QUERY_RELEASE(m) do { pmix_query_free_((m), 1); (m) = NULL; } while (0)
#define PMIX_QUERY_QUALIFIERS_CREATE(m, n) pmix_query_qualifiers_create_(m, n)

/* Process information. */
#define PMIX_PROC_INFO_STATIC_INIT { PMIX_PROC_STATIC_INIT, NULL, NULL, 0, 0, 0 }
PMIX_EXPORT void PMIx_Proc_info_construct(pmix_proc_info_t *a);
PMIX_EXPORT void PMIx_Proc_info_destruct(pmix_proc_info_t *a);
PMIX_EXPORT pmix_proc_info_t *PMIx_Proc_info_create(size_t n);
PMIX_EXPORT void PMIx_Proc_info_free(pmix_proc_info_t *p, size_t n);
#define PMIX_PROC_INFO_CONSTRUCT(m) pmix_proc_info_construct_(m)
#define PMIX_PROC_INFO_DESTRUCT(m) pmix_proc_info_destruct_(m)
#define PMIX_PROC_INFO_CREATE(m, n) do { (m) = pmix_proc_info_create_(n); } while (0)
#define PMIX_PROC_INFO_FREE(m, n) do { pmix_proc_info_free_((m), (n)); (m) = NULL; } while (0)
#define PMIX_PROC_INFO_RELEASE(m) do { pmix_proc_info_free_((m), 1); (m) = NULL; } while (0)

/* Data arrays: @n elements of type @t, each in its empty state. An unknown type gives an array
 * of none. */
#define PMIX_DATA_ARRAY_STATIC_INIT { PMIX_UNDEF, 0, NULL }
PMIX_EXPORT void PMIx_Data_array_init(pmix_data_array_t *p, pmix_data_type_t t);
PMIX_EXPORT void PMIx_Data_array_construct(pmix_data_array_t *p, size_t n, pmix_data_type_t t);
PMIX_EXPORT void PMIx_Data_array_destruct(pmix_data_array_t *p);
PMIX_EXPORT pmix_data_array_t *PMIx_Data_array_create(size_t n, pmix_data_type_t t);
PMIX_EXPORT void PMIx_Data_array_free(pmix_data_array_t *p);
#define PMIX_DATA_ARRAY_INIT(m, t) pmix_data_array_init_(m, t)
#define PMIX_DATA_ARRAY_CONSTRUCT(m, n, t) pmix_data_array_construct_(m, n, t)
#define PMIX_DATA_ARRAY_DESTRUCT(m) PMIx_Data_array_destruct(m)
#define PMIX_DATA_ARRAY_CREATE(m, n, t) do { (m) = pmix_data_array_create_(n, t); } while (0)
#define PMIX_DATA_ARRAY_FREE(m) do { pmix_data_array_free_(m); (m) = NULL; } while (0)

/* Byte objects. Load takes the block over; the macro clears the variables that named it. */
#define PMIX_BYTE_OBJECT_STATIC_INIT { NULL, 0 }
PMIX_EXPORT void PMIx_Byte_object_construct(pmix_byte_object_t *p);
PMIX_EXPORT void PMIx_Byte_object_destruct(pmix_byte_object_t *p);
PMIX_EXPORT pmix_byte_object_t *PMIx_Byte_object_create(size_t n);
PMIX_EXPORT void PMIx_Byte_object_free(pmix_byte_object_t *p, size_t n);
PMIX_EXPORT void PMIx_Byte_object_load(pmix_byte_object_t *p, char *d, size_t n);
#define PMIX_BYTE_OBJECT_CONSTRUCT(m) pmix_byte_object_construct_(m)
#define PMIX_BYTE_OBJECT_DESTRUCT(m) pmix_byte_object_destruct_(m)
#define PMIX_BYTE_OBJECT_CREATE(m, n) do { (m) = pmix_byte_object_create_(n); } while (0)
#define PMIX_BYTE_OBJECT_FREE(m, n) do { pmix_byte_object_free_((m), (n)); (m) = NULL; } while (0)
#define PMIX_BYTE_OBJECT_LOAD(b, d, s) \
    do { \
        pmix_byte_object_load_(b, d, s); \
        (d) = NULL; \
        (s) = 0; \
    } while (0)

/* Data buffers. Load takes a block over as the payload, unload hands the payload out. */
#define PMIX_DATA_BUFFER_STATIC_INIT { NULL, NULL, NULL, 0, 0 }
PMIX_EXPORT void PMIx_Data_buffer_construct(pmix_data_buffer_t *buffer);
PMIX_EXPORT void PMIx_Data_buffer_destruct(pmix_data_buffer_t *buffer);
PMIX_EXPORT pmix_data_buffer_t *PMIx_Data_buffer_create(void);
PMIX_EXPORT void PMIx_Data_buffer_release(pmix_data_buffer_t *buffer);
PMIX_EXPORT void PMIx_Data_buffer_load(pmix_data_buffer_t *buffer, char *data, size_t size);
PMIX_EXPORT void PMIx_Data_buffer_unload(pmix_data_buffer_t *buffer, char **data, size_t *size);
#define PMIX_DATA_BUFFER_CONSTRUCT(m) pmix_data_buffer_construct_(m)
#define PMIX_DATA_BUFFER_DESTRUCT(m) pmix_data_buffer_destruct_(m)
#define PMIX_DATA_BUFFER_CREATE(m) do { (m) = pmix_data_buffer_create_(1); } while (0)
#define PMIX_DATA_BUFFER_RELEASE(m) do { pmix_data_buffer_free_((m), 1); (m) = NULL; } while (0)
#define PMIX_DATA_BUFFER_LOAD(b, d, s) pmix_data_buffer_load_(b, d, s)
#define PMIX_DATA_BUFFER_UNLOAD(b, d, s) pmix_data_buffer_unload_(b, &(d), &(s))

/* Environment variables. Load copies both strings. Setenv works on a NULL-ended vector; without
 * @overwrite an existing variable gives PMIX_ERR_EXISTS; a NULL value is an empty one. */
#define PMIX_ENVAR_STATIC_INIT { NULL, NULL, '\0' }
PMIX_EXPORT void PMIx_Envar_construct(pmix_envar_t *p);
PMIX_EXPORT void PMIx_Envar_destruct(pmix_envar_t *p);
PMIX_EXPORT pmix_envar_t *PMIx_Envar_create(size_t n);
PMIX_EXPORT void PMIx_Envar_free(pmix_envar_t *p, size_t n);
PMIX_EXPORT void PMIx_Envar_load(pmix_envar_t *e, char *var, char *value, char separator);
PMIX_EXPORT pmix_status_t PMIx_Setenv(const char *name, const char *value, bool overwrite,
    char ***env);
#define PMIX_ENVAR_CONSTRUCT(m) pmix_envar_construct_(m)
#define PMIX_ENVAR_DESTRUCT(m) pmix_envar_destruct_(m)
#define PMIX_ENVAR_CREATE(m, n) do { (m) = pmix_envar_create_(n); } while (0)
#define PMIX_ENVAR_FREE(m, n) do { pmix_envar_free_((m), (n)); (m) = NULL; } while (0)
#define PMIX_ENVAR_LOAD(m, e, v, s) pmix_envar_load_(m, e, v, s)
#define PMIX_SETENV(r, a, b, c) do { (r) = pmix_setenv_(a, b, true, c); } while (0)

/* NULL-ended vectors of strings. Appending and prepending copy the string; split drops empty
 * fields, split_with_empty keeps them, but none behind a delimiter at the end; join gives one new
 * string. */
PMIX_EXPORT pmix_status_t PMIx_Argv_append_nosize(char ***argv, const char *arg);
PMIX_EXPORT pmix_status_t PMIx_Argv_append_unique_nosize(char ***argv, const char *arg);
PMIX_EXPORT char **PMIx_Argv_copy(char **argv);
PMIX_EXPORT int PMIx_Argv_count(char **argv);
PMIX_EXPORT void PMIx_Argv_free(char **argv);
PMIX_EXPORT char *PMIx_Argv_join(char **argv, int delimiter);
PMIX_EXPORT pmix_status_t PMIx_Argv_prepend_nosize(char ***argv, const char *arg);
PMIX_EXPORT char **PMIx_Argv_split(const char *src_string, int delimiter);
PMIX_EXPORT char **PMIx_Argv_split_inter(const char *src_string, int delimiter, bool include_empty);
PMIX_EXPORT char **PMIx_Argv_split_with_empty(const char *src_string, int delimiter);
#define PMIX_ARGV_APPEND(r, a, b) do { (r) = pmix_argv_append_(&(a), b); } while (0)
#define PMIX_ARGV_APPEND_UNIQUE(r, a, b) \
    do { \
        (r) = pmix_argv_append_unique_(a, b); \
    } while (0)
#define PMIX_ARGV_PREPEND(r, a, b) do { (r) = pmix_argv_prepend_(&(a), b); } while (0)
#define PMIX_ARGV_COPY(a, b) do { (a) = pmix_argv_copy_(b); } while (0)
#define PMIX_ARGV_COUNT(r, a) do { (r) = pmix_argv_count_(a); } while (0)
#define PMIX_ARGV_FREE(a) do { pmix_argv_free_(a); (a) = NULL; } while (0)
#define PMIX_ARGV_SPLIT(a, b, c) do { (a) = pmix_argv_split_inter_(b, c, false); } while (0)
#define PMIX_ARGV_JOIN(a, b, c) do { (a) = pmix_argv_join_(b, c); } while (0)

/* Descriptions of attributes. Load copies its strings; @v is one line of description. */
#define PMIX_REGATTR_STATIC_INIT { NULL, { 0 }, PMIX_UNDEF, NULL }
PMIX_EXPORT void PMIx_Regattr_construct(pmix_regattr_t *p);
PMIX_EXPORT void PMIx_Regattr_destruct(pmix_regattr_t *p);
PMIX_EXPORT pmix_regattr_t *PMIx_Regattr_create(size_t n);
PMIX_EXPORT void PMIx_Regattr_free(pmix_regattr_t *p, size_t n);
PMIX_EXPORT void PMIx_Regattr_load(pmix_regattr_t *p, const char *n, const char *k,
    pmix_data_type_t t, const char *v);
PMIX_EXPORT void PMIx_Regattr_xfer(pmix_regattr_t *p, const pmix_regattr_t *s);
#define PMIX_REGATTR_CONSTRUCT(m) pmix_regattr_construct_(m)
#define PMIX_REGATTR_DESTRUCT(m) pmix_regattr_destruct_(m)
#define PMIX_REGATTR_CREATE(m, n) do { (m) = pmix_regattr_create_(n); } while (0)
#define PMIX_REGATTR_FREE(m, n) do { pmix_regattr_free_((m), (n)); (m) = NULL; } while (0)
#define PMIX_REGATTR_LOAD(a, n, k, t, v) pmix_regattr_load_(a, n, k, t, v)
#define PMIX_REGATTR_XFER(a, b) pmix_regattr_xfer_(a, b)

/* Cpusets and topologies. Destruct also releases what their source made. */
#define PMIX_CPUSET_STATIC_INIT { NULL, NULL }
PMIX_EXPORT void PMIx_Cpuset_construct(pmix_cpuset_t *m);
PMIX_EXPORT void PMIx_Cpuset_destruct(pmix_cpuset_t *m);
PMIX_EXPORT pmix_cpuset_t *PMIx_Cpuset_create(size_t n);
PMIX_EXPORT void PMIx_Cpuset_free(pmix_cpuset_t *m, size_t n);
#define PMIX_CPUSET_CONSTRUCT(m) pmix_cpuset_construct_(m)
#define PMIX_CPUSET_DESTRUCT(m) PMIx_Cpuset_destruct(m)
#define PMIX_CPUSET_CREATE(m, n) do { (m) = pmix_cpuset_create_(n); } while (0)
#define PMIX_CPUSET_FREE(m, n) do { pmix_cpuset_free_((m), (n)); (m) = NULL; } while (0)

#define PMIX_TOPOLOGY_STATIC_INIT { NULL, NULL }
PMIX_EXPORT void PMIx_Topology_construct(pmix_topology_t *m);
PMIX_EXPORT void PMIx_Topology_destruct(pmix_topology_t *topo);
PMIX_EXPORT pmix_topology_t *PMIx_Topology_create(size_t n);
PMIX_EXPORT void PMIx_Topology_free(pmix_topology_t *p, size_t n);
#define PMIX_TOPOLOGY_CONSTRUCT(m) pmix_topology_construct_(m)
#define PMIX_TOPOLOGY_DESTRUCT(m) PMIx_Topology_destruct(m)
#define PMIX_TOPOLOGY_CREATE(m, n) do { (m) = pmix_topology_create_(n); } while (0)
#define PMIX_TOPOLOGY_FREE(m, n) do { pmix_topology_free_((m), (n)); (m) = NULL; } while (0)

/* Coordinates: the function takes the dimensions first, the macro the number of structures. */
#define PMIX_COORD_STATIC_INIT { PMIX_COORD_VIEW_UNDEF, NULL, 0 }
PMIX_EXPORT void PMIx_Coord_construct(pmix_coord_t *m);
PMIX_EXPORT void PMIx_Coord_destruct(pmix_coord_t *m);
PMIX_EXPORT pmix_coord_t *PMIx_Coord_create(size_t dims, size_t n);
PMIX_EXPORT void PMIx_Coord_free(pmix_coord_t *m, size_t n);
#define PMIX_COORD_CONSTRUCT(m) pmix_coords_construct_(m)
#define PMIX_COORD_DESTRUCT(m) pmix_coords_destruct_(m)
#define PMIX_COORD_FREE(m, n) do { pmix_coords_free_((m), (n)); (m) = NULL; } while (0)
#define PMIX_COORD_CREATE(m, n, d) do { (m) = pmix_coord_create_(n, d); } while (0)

/* Geometries. */
#define PMIX_GEOMETRY_STATIC_INIT { 0, NULL, NULL, NULL, 0 }
PMIX_EXPORT void PMIx_Geometry_construct(pmix_geometry_t *m);
PMIX_EXPORT void PMIx_Geometry_destruct(pmix_geometry_t *m);
PMIX_EXPORT pmix_geometry_t *PMIx_Geometry_create(size_t n);
PMIX_EXPORT void PMIx_Geometry_free(pmix_geometry_t *m, size_t n);
#define PMIX_GEOMETRY_CONSTRUCT(m) pmix_geometry_construct_(m)
#define PMIX_GEOMETRY_DESTRUCT(m) pmix_geometry_destruct_(m)
#define PMIX_GEOMETRY_CREATE(m, n) do { (m) = pmix_geometry_create_(n); } while (0)
#define PMIX_GEOMETRY_FREE(m, n) do { pmix_geometry_free_((m), (n)); (m) = NULL; } while (0)

/* Device distances. Construct sets both distances to UINT16_MAX, which means unknown. */
#define PMIX_DEVICE_DIST_STATIC_INIT { NULL, NULL, 0, UINT16_MAX, UINT16_MAX }
PMIX_EXPORT void PMIx_Device_distance_construct(pmix_device_distance_t *m);
PMIX_EXPORT void PMIx_Device_distance_destruct(pmix_device_distance_t *m);
PMIX_EXPORT pmix_device_distance_t *PMIx_Device_distance_create(size_t n);
PMIX_EXPORT void PMIx_Device_distance_free(pmix_device_distance_t *m, size_t n);
#define PMIX_DEVICE_DIST_CONSTRUCT(m) pmix_device_dist_construct_(m)
#define PMIX_DEVICE_DIST_DESTRUCT(m) pmix_device_dist_destruct_(m)
#define PMIX_DEVICE_DIST_CREATE(m, n) do { (m) = pmix_device_dist_create_(n); } while (0)
#define PMIX_DEVICE_DIST_FREE(m, n) \
    do { \
        pmix_device_dist_free_((m), (n)); \
        (m) = NULL; \
    } while (0)

/* Endpoints. */
#define PMIX_ENDPOINT_STATIC_INIT { NULL, NULL, PMIX_BYTE_OBJECT_STATIC_INIT }
PMIX_EXPORT void PMIx_Endpoint_construct(pmix_endpoint_t *m);
PMIX_EXPORT void PMIx_Endpoint_destruct(pmix_endpoint_t *m);
PMIX_EXPORT pmix_endpoint_t *PMIx_Endpoint_create(size_t n);
PMIX_EXPORT void PMIx_Endpoint_free(pmix_endpoint_t *m, size_t n);
#define PMIX_ENDPOINT_CONSTRUCT(m) pmix_endpoint_construct_(m)
#define PMIX_ENDPOINT_DESTRUCT(m) pmix_endpoint_destruct_(m)
#define PMIX_ENDPOINT_CREATE(m, n) do { (m) = pmix_endpoint_create_(n); } while (0)
#define PMIX_ENDPOINT_FREE(m, n) do { pmix_endpoint_free_((m), (n)); (m) = NULL; } while (0)

/* Devices, resource units and processes by node (since 6.1). */
#define PMIX_DEVICE_STATIC_INIT { NULL, NULL, 0 }
PMIX_EXPORT void PMIx_Device_construct(pmix_device_t *m);
PMIX_EXPORT void PMIx_Device_destruct(pmix_device_t *m);
PMIX_EXPORT pmix_device_t *PMIx_Device_create(size_t n);
PMIX_EXPORT void PMIx_Device_free(pmix_device_t *m, size_t n);
#define PMIX_DEVICE_CONSTRUCT(m) PMIx_Device_construct(m)
#define PMIX_DEVICE_DESTRUCT(m) PMIx_Device_destruct(m)
#define PMIX_DEVICE_CREATE(m, n) do { (m) = PMIx_Device_create(n); } while (0)
#define PMIX_DEVICE_FREE(m, n) do { PMIx_Device_free((m), (n)); (m) = NULL; } while (0)

#define PMIX_RESOURCE_UNIT_STATIC_INIT { 0, 0 }
PMIX_EXPORT void PMIx_Resource_unit_construct(pmix_resource_unit_t *m);
PMIX_EXPORT void PMIx_Resource_unit_destruct(pmix_resource_unit_t *m);
PMIX_EXPORT pmix_resource_unit_t *PMIx_Resource_unit_create(size_t n);
PMIX_EXPORT void PMIx_Resource_unit_free(pmix_resource_unit_t *m, size_t n);
#define PMIX_RESOURCE_UNIT_CONSTRUCT(m) PMIx_Resource_unit_construct(m)
#define PMIX_RESOURCE_UNIT_DESTRUCT(m) PMIx_Resource_unit_destruct(m)
#define PMIX_RESOURCE_UNIT_CREATE(m, n) do { (m) = PMIx_Resource_unit_create(n); } while (0)
#define PMIX_RESOURCE_UNIT_FREE(m, n) \
    do { \
        PMIx_Resource_unit_free((m), (n)); \
        (m) = NULL; \
    } while (0)

#define PMIX_NODE_PID_STATIC_INIT { NULL, UINT32_MAX, -1 }
PMIX_EXPORT void PMIx_Node_pid_construct(pmix_node_pid_t *m);
PMIX_EXPORT void PMIx_Node_pid_destruct(pmix_node_pid_t *m);
PMIX_EXPORT pmix_node_pid_t *PMIx_Node_pid_create(size_t n);
PMIX_EXPORT void PMIx_Node_pid_free(pmix_node_pid_t *m, size_t n);

/* Shortened lists (since 7.0). */
#define PMIX_REGEX2_STATIC_INIT { NULL, NULL, 0 }
PMIX_EXPORT void PMIx_Regex2_construct(pmix_regex2_t *m);
PMIX_EXPORT void PMIx_Regex2_destruct(pmix_regex2_t *m);
PMIX_EXPORT pmix_regex2_t *PMIx_Regex2_create(size_t n);
PMIX_EXPORT void PMIx_Regex2_free(pmix_regex2_t *m, size_t n);

/* Fabrics. The releases that have the function declare its parameter by mistake as
 * pmix_regattr_t *; the macro takes what it should be. */
#define PMIX_FABRIC_STATIC_INIT { NULL, 0, NULL, 0, NULL }
PMIX_EXPORT void PMIx_Fabric_construct(pmix_regattr_t *m);
#define PMIX_FABRIC_CONSTRUCT(x) memset(x, 0, sizeof(pmix_fabric_t))

/* Statistics (in 4.x and 5.0). */
#define PMIX_PROC_STATS_STATIC_INIT \
    { NULL, PMIX_PROC_STATIC_INIT, 0, NULL, 0, { 0, 0 }, 0, 0, 0, 0, 0, 0, 0, 0, { 0, 0 } }
PMIX_EXPORT void PMIx_Proc_stats_construct(pmix_proc_stats_t *m);
PMIX_EXPORT void PMIx_Proc_stats_destruct(pmix_proc_stats_t *m);
PMIX_EXPORT pmix_proc_stats_t *PMIx_Proc_stats_create(size_t n);
PMIX_EXPORT void PMIx_Proc_stats_free(pmix_proc_stats_t *m, size_t n);
#define PMIX_PROC_STATS_CONSTRUCT(m) pmix_proc_stats_construct_(m)
#define PMIX_PROC_STATS_DESTRUCT(m) pmix_proc_stats_destruct_(m)
#define PMIX_PROC_STATS_CREATE(m, n) do { (m) = pmix_proc_stats_create_(n); } while (0)
#define PMIX_PROC_STATS_FREE(m, n) do { pmix_proc_stats_free_((m), (n)); (m) = NULL; } while (0)
#define PMIX_PROC_STATS_RELEASE(m) do { pmix_proc_stats_free_((m), 1); (m) = NULL; } while (0)

#define PMIX_DISK_STATS_STATIC_INIT { NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }
PMIX_EXPORT void PMIx_Disk_stats_construct(pmix_disk_stats_t *m);
PMIX_EXPORT void PMIx_Disk_stats_destruct(pmix_disk_stats_t *m);
PMIX_EXPORT pmix_disk_stats_t *PMIx_Disk_stats_create(size_t n);
PMIX_EXPORT void PMIx_Disk_stats_free(pmix_disk_stats_t *m, size_t n);
#define PMIX_DISK_STATS_CONSTRUCT(m) pmix_disk_stats_construct_(m)
#define PMIX_DISK_STATS_DESTRUCT(m) pmix_disk_stats_destruct_(m)
#define PMIX_DISK_STATS_CREATE(m, n) do { (m) = pmix_disk_stats_create_(n); } while (0)
#define PMIX_DISK_STATS_FREE(m, n) do { pmix_disk_stats_free_((m), (n)); (m) = NULL; } while (0)
#define PMIX_DISK_STATS_RELEASE(m) do { pmix_disk_stats_free_((m), 1); (m) = NULL; } while (0)

#define PMIX_NET_STATS_STATIC_INIT { NULL, 0, 0, 0, 0, 0, 0 }
PMIX_EXPORT void PMIx_Net_stats_construct(pmix_net_stats_t *m);
PMIX_EXPORT void PMIx_Net_stats_destruct(pmix_net_stats_t *m);
PMIX_EXPORT pmix_net_stats_t *PMIx_Net_stats_create(size_t n);
PMIX_EXPORT void PMIx_Net_stats_free(pmix_net_stats_t *m, size_t n);
#define PMIX_NET_STATS_CONSTRUCT(m) pmix_net_stats_construct_(m)
#define PMIX_NET_STATS_DESTRUCT(m) pmix_net_stats_destruct_(m)
#define PMIX_NET_STATS_CREATE(m, n) do { (m) = pmix_net_stats_create_(n); } while (0)
#define PMIX_NET_STATS_FREE(m, n) do { pmix_net_stats_free_((m), (n)); (m) = NULL; } while (0)
#define PMIX_NET_STATS_RELEASE(m) do { pmix_net_stats_free_((m), 1); (m) = NULL; } while (0)

#define PMIX_NODE_STATS_STATIC_INIT \
    { NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, { 0, 0 }, NULL, 0, NULL, 0 }
PMIX_EXPORT void PMIx_Node_stats_construct(pmix_node_stats_t *m);
PMIX_EXPORT void PMIx_Node_stats_destruct(pmix_node_stats_t *m);
PMIX_EXPORT pmix_node_stats_t *PMIx_Node_stats_create(size_t n);
PMIX_EXPORT void PMIx_Node_stats_free(pmix_node_stats_t *m, size_t n);
#define PMIX_NODE_STATS_CONSTRUCT(m) pmix_node_stats_construct_(m)
#define PMIX_NODE_STATS_DESTRUCT(m) pmix_node_stats_destruct_(m)
#define PMIX_NODE_STATS_CREATE(m, n) do { (m) = pmix_node_stats_create_(n); } while (0)
#define PMIX_NODE_STATS_FREE(m, n) do { pmix_node_stats_free_((m), (n)); (m) = NULL; } while (0)
#define PMIX_NODE_STATS_RELEASE(m) do { pmix_node_stats_free_((m), 1); (m) = NULL; } while (0)

#ifdef __cplusplus
}
#endif

#include <pmix_deprecated.h>
#include <pmix_inline.h>

#endif /* PMIX_COMMON_H */
