/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pmix_deprecated.h - names that the PMIx Standard has withdrawn or never had, but binaries use.
 *
 * New code needs none of them. pmix_common.h includes this file, so that old code finds them. */
#ifndef PMIX_DEPRECATED_H
#define PMIX_DEPRECATED_H

#include <pmix_common.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status codes ---------------------------------------------------------------------------- */

/* Other names of codes in pmix_common.h. */
#define PMIX_ERR_DEBUGGER_RELEASE     (-3)
#define PMIX_EXISTS                   (-11)
#define PMIX_DEBUG_WAITING_FOR_NOTIFY (-58)
#define PMIX_ERR_JOB_TERMINATED       (-145)
#define PMIX_ERR_SYS_BASE             (-230)
#define PMIX_ERR_NODE_DOWN            (-231)
#define PMIX_ERR_NODE_OFFLINE         (-232)
#define PMIX_ERR_SYS_OTHER            (-330)

/* Processes, jobs and connections. */
#define PMIX_ERR_PROC_ABORTED              (-7)
#define PMIX_ERR_PROC_ABORTING             (-9)
#define PMIX_ERR_PROC_ENTRY_NOT_FOUND      (-17)
#define PMIX_ERR_LOST_CONNECTION_TO_SERVER (-101)
#define PMIX_ERR_LOST_PEER_CONNECTION      (-102)
#define PMIX_ERR_LOST_CONNECTION_TO_CLIENT (-103)
#define PMIX_ERR_INVALID_TERMINATION       (-112)
#define PMIX_PROC_HAS_CONNECTED            (-149)
#define PMIX_CONNECT_REQUESTED             (-150)

/* Limits and failures of the operating system. */
#define PMIX_ERR_FATAL                   (-63)
#define PMIX_ERR_NOT_AVAILABLE           (-64)
#define PMIX_ERR_VALUE_OUT_OF_BOUNDS     (-65)
#define PMIX_ERR_FILE_OPEN_FAILURE       (-67)
#define PMIX_ERR_FILE_READ_FAILURE       (-68)
#define PMIX_ERR_FILE_WRITE_FAILURE      (-69)
#define PMIX_ERR_SYS_LIMITS_PIPES        (-70)
#define PMIX_ERR_SYS_LIMITS_CHILDREN     (-71)
#define PMIX_ERR_PIPE_SETUP_FAILURE      (-72)
#define PMIX_ERR_EXE_NOT_ACCESSIBLE      (-73)
#define PMIX_ERR_JOB_WDIR_NOT_ACCESSIBLE (-74)
#define PMIX_ERR_SYS_LIMITS_FILES        (-75)

/* Arguments, data and the rest. */
#define PMIX_ERR_SILENT                (-2)
#define PMIX_ERR_SERVER_FAILED_REQUEST (-10)
#define PMIX_ERR_HANDSHAKE_FAILED      (-13)
#define PMIX_ERR_READY_FOR_HANDSHAKE   (-14)
#define PMIX_ERR_PACK_MISMATCH         (-22)
#define PMIX_ERR_IN_ERRNO              (-26)
#define PMIX_ERR_DATA_VALUE_NOT_FOUND  (-30)
#define PMIX_ERR_INVALID_ARG           (-33)
#define PMIX_ERR_INVALID_KEY           (-34)
#define PMIX_ERR_INVALID_KEY_LENGTH    (-35)
#define PMIX_ERR_INVALID_VAL           (-36)
#define PMIX_ERR_INVALID_VAL_LENGTH    (-37)
#define PMIX_ERR_INVALID_LENGTH        (-38)
#define PMIX_ERR_INVALID_NUM_ARGS      (-39)
#define PMIX_ERR_INVALID_ARGS          (-40)
#define PMIX_ERR_INVALID_NUM_PARSED    (-41)
#define PMIX_ERR_INVALID_KEYVALP       (-42)
#define PMIX_ERR_INVALID_SIZE          (-43)
#define PMIX_ERR_INVALID_NAMESPACE     (-44)
#define PMIX_ERR_SERVER_NOT_AVAIL      (-45)
#define PMIX_ERR_NOT_IMPLEMENTED       (-48)
#define PMIX_NOTIFY_ALLOC_COMPLETE     (-105)
#define PMIX_ERR_UPDATE_ENDPOINTS      (-146)
#define PMIX_GDS_ACTION_COMPLETE       (-148)

/* ---- Types ----------------------------------------------------------------------------------- */

#define PMIX_BUFFER            26
#define PMIX_JOB_STATE_PREPPED 1

/* Older name of pmix_hdlr_reg_cbfunc_t. */
typedef void (*pmix_evhdlr_reg_cbfunc_t)(pmix_status_t status, size_t refid, void *cbdata);

/* ---- Keys ------------------------------------------------------------------------------------ */

/* Initialisation of any role. */

/* struct event_base*: event base that the host lends the library */
#define PMIX_EVENT_BASE "pmix.evbase"

/* Transports. */

/* char*: data store modules, comma-separated */
#define PMIX_GDS_MODULE "pmix.gds.mod"
/* char*: packing module */
#define PMIX_BFROPS_MODULE "pmix.bfrops.mod"

/* PMIx_server_init. */

/* bool: use one rendezvous only */
#define PMIX_SINGLE_LISTENER "pmix.sing.listnr"
/* uint32_t: access mode of the rendezvous */
#define PMIX_SOCKET_MODE "pmix.sockmode"
/* bool: no unix sockets */
#define PMIX_USOCK_DISABLE "pmix.usock.disable"
/* hwloc_topology_t: topology the host has already loaded */
#define PMIX_TOPOLOGY "pmix.topo"

/* How a tool finds its server. */

/* bool: event: reconnect to this server */
#define PMIX_RECONNECT_SERVER "pmix.cnct.recon"

/* Reserved keys: node. Data of one node; which one is told with PMIX_NODEID or PMIX_HOSTNAME. */

/* char*: path of the data store */
#define PMIX_DSTPATH "pmix.dstpath"
/* char*: topology as XML of hwloc 1 */
#define PMIX_HWLOC_XML_V1 "pmix.hwlocxml1"
/* char*: topology as XML of hwloc 2 */
#define PMIX_HWLOC_XML_V2 "pmix.hwlocxml2"
/* bool: share the topology in memory */
#define PMIX_HWLOC_SHARE_TOPO "pmix.hwlocsh"
/* size_t: address to map it at */
#define PMIX_HWLOC_SHMEM_ADDR "pmix.hwlocaddr"
/* size_t: bytes of it */
#define PMIX_HWLOC_SHMEM_SIZE "pmix.hwlocsize"
/* char*: file that holds it */
#define PMIX_HWLOC_SHMEM_FILE "pmix.hwlocfile"
/* char*: kind of address hole to map it in */
#define PMIX_HWLOC_HOLE_KIND "pmix.hwlocholek"
/* char*: topology of the node as XML */
#define PMIX_LOCAL_TOPO "pmix.ltopo"
/* char*: topology as XML */
#define PMIX_TOPOLOGY_XML "pmix.topo.xml"
/* char*: file with that XML */
#define PMIX_TOPOLOGY_FILE "pmix.topo.file"
/* char*: short text that differs when topologies do */
#define PMIX_TOPOLOGY_SIGNATURE "pmix.toposig"

/* Reserved keys: process. Data of one process. */

/* uint16_t: what it shares with the caller */
#define PMIX_LOCALITY "pmix.loc"
/* uint32_t: data layout of the process */
#define PMIX_ARCH "pmix.arch"
/* char*: address of the process */
#define PMIX_PROC_URI "pmix.puri"

/* PMIx_server_register_nspace. Containers for the realms of job data. */

/* pmix_data_array_t*: older name of PMIX_PROC_INFO_ARRAY */
#define PMIX_PROC_DATA "pmix.pdata"
/* pmix_byte_object_t: packed maps */
#define PMIX_MAP_BLOB "pmix.mblob"
/* pmix_byte_object_t: packed data of a process */
#define PMIX_PROC_BLOB "pmix.pblob"

/* PMIx_server_setup_application. */

/* pmix_byte_object_t: packed data of the fabric modules */
#define PMIX_PNET_SETUP_APP "pmix.pnet.setapp"

/* Fence, connect and the other collectives. */

/* char*: algorithms to use, comma-separated */
#define PMIX_COLLECTIVE_ALGO "pmix.calgo"
/* bool: fail when none of them can be used */
#define PMIX_COLLECTIVE_ALGO_REQD "pmix.calreqd"

/* Events. */

/* bool: the handler thinks the process can go on */
#define PMIX_EVENT_NO_TERMINATION "pmix.evnoterm"
/* bool: the handler wants the process to end */
#define PMIX_EVENT_WANT_TERMINATION "pmix.evterm"

/* PMIx_Spawn. For the job or for one application. */

/* char*: placement module */
#define PMIX_MAPPER "pmix.mapper"
/* bool: mark output with its rank */
#define PMIX_TAG_OUTPUT "pmix.tagout"
/* bool: mark output with the time */
#define PMIX_TIMESTAMP_OUTPUT "pmix.tsout"
/* bool: standard error goes with standard output */
#define PMIX_MERGE_STDERR_STDOUT "pmix.mergeerrout"
/* char*: file for the output */
#define PMIX_OUTPUT_TO_FILE "pmix.outfile"
/* char*: directory for the output */
#define PMIX_OUTPUT_TO_DIRECTORY "pmix.outdir"
/* bool: output goes to the file only */
#define PMIX_OUTPUT_NOCOPY "pmix.nocopy"
/* bool: the program uses no PMI */
#define PMIX_NON_PMI "pmix.nonpmi"
/* bool: send an event when it has started */
#define PMIX_NOTIFY_LAUNCH "pmix.note.lnch"

/* Debuggers. */

/* char*: namespace to debug */
#define PMIX_DEBUG_JOB "pmix.dbg.job"
/* pmix_data_array_t*: directives for that job */
#define PMIX_DEBUG_JOB_DIRECTIVES "pmix.dbg.jdirs"
/* pmix_data_array_t*: directives for the application */
#define PMIX_DEBUG_APP_DIRECTIVES "pmix.dbg.adirs"

/* Forwarding of standard streams. */

/* bool: stop forwarding */
#define PMIX_IOF_STOP "pmix.iof.stop"

/* PMIx_Allocation_request. */

/* pmix_data_array_t*: see PMIX_ALLOC_FABRIC */
#define PMIX_ALLOC_NETWORK "pmix.alloc.net"
/* size_t: see PMIX_ALLOC_FABRIC_ENDPTS */
#define PMIX_ALLOC_NETWORK_ENDPTS "pmix.alloc.endpts"
/* size_t: see PMIX_ALLOC_FABRIC_ENDPTS_NODE */
#define PMIX_ALLOC_NETWORK_ENDPTS_NODE "pmix.alloc.endpts.nd"
/* char*: see PMIX_ALLOC_FABRIC_ID */
#define PMIX_ALLOC_NETWORK_ID "pmix.alloc.netid"
/* char*: see PMIX_ALLOC_FABRIC_PLANE */
#define PMIX_ALLOC_NETWORK_PLANE "pmix.alloc.netplane"
/* char*: see PMIX_ALLOC_FABRIC_QOS */
#define PMIX_ALLOC_NETWORK_QOS "pmix.alloc.netqos"
/* pmix_byte_object_t: see PMIX_ALLOC_FABRIC_SEC_KEY */
#define PMIX_ALLOC_NETWORK_SEC_KEY "pmix.alloc.nsec"
/* char*: see PMIX_ALLOC_FABRIC_TYPE */
#define PMIX_ALLOC_NETWORK_TYPE "pmix.alloc.nettype"

/* ---- Functions ------------------------------------------------------------------------------- */

/* Older form of PMIx_tool_attach_to_server, for one server. */
PMIX_EXPORT pmix_status_t PMIx_tool_connect_to_server(pmix_proc_t *proc, pmix_info_t *info,
    size_t ninfo);

/* ---- Lower-case helpers of the 4.2 headers --------------------------------------------------- */

/* Vectors of strings and the environment: see PMIx_Argv_* and PMIx_Setenv. */
#define pmix_argv_append_nosize(argv, arg) pmix_argv_append_(argv, arg)
#define pmix_argv_append_unique_nosize(argv, arg) pmix_argv_append_unique_(argv, arg)
#define pmix_argv_prepend_nosize(argv, arg) pmix_argv_prepend_(argv, arg)
#define pmix_argv_copy(argv) pmix_argv_copy_(argv)
#define pmix_argv_count(argv) pmix_argv_count_(argv)
#define pmix_argv_free(argv) pmix_argv_free_(argv)
#define pmix_argv_join(argv, delimiter) pmix_argv_join_(argv, delimiter)
#define pmix_argv_split(src_string, delimiter) pmix_argv_split_inter_(src_string, delimiter, false)
#define pmix_argv_split_with_empty(src_string, delimiter) \
    pmix_argv_split_inter_(src_string, delimiter, true)
#define pmix_argv_split_inter(src_string, delimiter, include_empty) \
    pmix_argv_split_inter_(src_string, delimiter, include_empty)
#define pmix_setenv(name, value, overwrite, env) pmix_setenv_(name, value, overwrite, env)

/* How @value reads as a truth value. */
#define pmix_check_true(value) pmix_value_true_(value)

#ifdef __cplusplus
}
#endif

#endif /* PMIX_DEPRECATED_H */
